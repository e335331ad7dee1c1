-- What TestNeovim has Neovim do, headless. What came out is written to $RESULTS as JSON.

local results = { version = tostring(vim.fn.matchstr(vim.fn.execute("version"), "v\\d[0-9.]*")) }
local patience = 60000 -- milliseconds until something counts as hanging

local function await(what, holds)
  if not vim.wait(patience, holds, 10) then
    error("there is no " .. what)
  end
end

local function lines()
  return vim.api.nvim_buf_get_lines(0, 0, -1, false)
end

local function text()
  return table.concat(lines(), "\n") .. "\n"
end

-- The place of a text in the buffer, counted as the protocol does.
local function place(part, behind)
  for number, line in ipairs(lines()) do
    local at = line:find(part, 1, true)
    if at then
      local _, units = vim.str_utfindex(line, at - 1 + behind)
      return { line = number - 1, character = units }
    end
  end
  error("there is no " .. part)
end

local function ask(method, params)
  params = params or {}
  params.textDocument = { uri = vim.uri_from_bufnr(0) }
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, patience) or {}) do
    if answer.error then
      error(method .. ": " .. answer.error.message)
    end
    return answer.result
  end
  error(method .. " has no answer")
end

local published = 0 -- how often the file's diagnostics came
local function use()
  local show = vim.lsp.handlers["textDocument/publishDiagnostics"]
  vim.lsp.handlers["textDocument/publishDiagnostics"] = function(err, result, ...)
    show(err, result, ...)
    if result.uri == vim.uri_from_bufnr(0) then
      published = published + 1
    end
  end
  local attached = false
  dofile(vim.env.CONFIGURATION).setup({
    cmd = { vim.env.SERVER, "lsp" },
    on_attach = function()
      attached = true
    end,
  })
  vim.cmd("edit fevalgraph.hcl")
  await("server", function()
    return attached
  end)
  await("diagnostics", function()
    return published > 0
  end)
  results.clean = #vim.diagnostic.get(0)
  local before = text()

  -- mistakes behind characters of all widths
  local count = vim.api.nvim_buf_line_count(0)
  vim.api.nvim_buf_set_lines(0, count, count, false, { "locals { a = \"🗄️é${var.nope}\" }", "pool \"p\" { slost = 2 }" })
  await("mistakes", function()
    return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) >= 3
  end)
  results.mistake, results.messages = {}, {}
  for _, d in ipairs(vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })) do
    table.insert(results.mistake, lines()[d.lnum + 1]:sub(d.col + 1, d.end_col))
    table.insert(results.messages, d.message)
  end
  vim.api.nvim_buf_set_lines(0, count, -1, false, {})

  local at = place(vim.env.REFERENCE, #vim.env.REFERENCE - 1)
  results.hover = ask("textDocument/hover", { position = at }).contents.value
  local to = ask("textDocument/definition", { position = at })
  results.defined = lines()[to.range.start.line + 1]
  results.complete = {}
  for _, item in ipairs(ask("textDocument/completion", { position = at })) do
    table.insert(results.complete, item.label)
  end
  results.same = text() == before
  local errors = { severity = vim.diagnostic.severity.ERROR }
  await("end of mistakes", function()
    return #vim.diagnostic.get(0, errors) == 0
  end)
end

local ok, wrong = xpcall(use, debug.traceback)
if not ok then
  results.error = wrong
end
local out = io.open(vim.env.RESULTS, "w")
out:write(vim.fn.json_encode(results))
out:close()
vim.lsp.stop_client(vim.lsp.get_active_clients())
vim.wait(patience, function()
  return #vim.lsp.get_active_clients() == 0
end, 10)
vim.cmd("qall!")
