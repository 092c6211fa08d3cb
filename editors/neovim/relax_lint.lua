-- Neovim 0.11 or newer: put this file into `lsp/` of the configuration folder, and `vim.lsp.enable("relax_lint")` into init.lua.
return {
  cmd = { "relax-lint", "server" },
  filetypes = { "python", "markdown" },
  root_markers = { "pyproject.toml", ".git" },
  -- Inlay hints are also switched on in the editor: `vim.lsp.inlay_hint.enable()`.
  init_options = { inlayHints = false },
}
