"""The language server: what the linter knows of a text, in an editor. Needs the extra `lsp`."""
