-- Forgets jobs that ended well, where that is all there is to do with each. The word at `from` says
-- under which epochs they are held, in their order: `EPOCH.COUNT EPOCH.COUNT`; their ids follow, no
-- two the same. Answers how many there were, or nothing when it has done nothing.
local function forget_all(holder, from)
  local first, last = from + 1, #ARGV
  -- As many as Lua's stack holds with ease; more go one by one.
  if 2000 < last - from then return nil end
  local held, find, at = K .. 'held:' .. holder, string.find, 0
  local values = call('HMGET', held, unpack(ARGV, first, last))
  for epoch, many in string.gmatch(ARGV[from], '(%d+%.)(%d+)') do
    for i = at + 1, at + many do
      local value = values[i]
      if not value or find(value, epoch, 1, true) ~= 1 or find(value, '+', 1, true) then
        return nil
      end
    end
    at = at + many
  end
  call('HDEL', held, unpack(ARGV, first, last))
  call('HDEL', K .. 'jobs', unpack(ARGV, first, last))
  return at
end
