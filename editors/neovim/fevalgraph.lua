-- fevalgraph's language server for Neovim 0.7 and later. Copy this file to
-- ~/.config/nvim/lua/fevalgraph.lua, and in init.lua write
--
--   require("fevalgraph").setup()
--
-- Options: cmd, the server's command, by default { "fevalgraph", "lsp" };
-- on_attach(client, buffer), for key mappings.

local M = {}

local main = "fevalgraph.hcl"

-- Returns the directory of a file's configuration, or nil.
local function root_of(file)
  local found = vim.fn.findfile(main, vim.fn.fnamemodify(file, ":p:h") .. ";")
  if found ~= "" then
    return vim.fn.fnamemodify(found, ":p:h")
  end
end

local clients = {} -- by directory, for Neovim 0.7

local function attach(buffer, options)
  local root = root_of(vim.api.nvim_buf_get_name(buffer))
  if not root then
    return
  end
  local config = { name = "fevalgraph", cmd = options.cmd, root_dir = root, on_attach = options.on_attach }
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  if not clients[root] or not vim.lsp.get_client_by_id(clients[root]) then
    clients[root] = vim.lsp.start_client(config)
  end
  vim.lsp.buf_attach_client(buffer, clients[root])
end

function M.setup(options)
  options = vim.tbl_extend("force", { cmd = { "fevalgraph", "lsp" } }, options or {})
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
    pattern = "*.hcl",
    callback = function(event)
      attach(event.buf, options)
    end,
  })
end

return M
