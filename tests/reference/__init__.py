"""Plain Python twins of the engine's algorithms, written from the papers: slow, short, and drawing the same numbers."""
