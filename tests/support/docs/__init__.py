"""The project's Markdown pages as data: links, headings, code blocks."""
