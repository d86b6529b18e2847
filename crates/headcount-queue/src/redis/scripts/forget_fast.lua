-- Forgets jobs that ended well, from this word on an id and an epoch of each, where that is all
-- there is to do with each. Answers how many there were, or nothing when it has done nothing.
local function forget_all(holder, from)
  local held, ids, known, count = K .. 'held:' .. holder, {}, {}, 0
  for i = from, #ARGV, 2 do
    if known[ARGV[i]] then return nil end
    count = count + 1
    ids[count] = ARGV[i]
    known[ARGV[i]] = true
  end
  local values = fetched(held, ids)
  for i = 1, count do
    local value, epoch = values[i], ARGV[from - 1 + i * 2]
    if not value or string.sub(value, 1, #epoch + 1) ~= epoch .. '.'
      or string.find(value, '+', 1, true) then
      return nil
    end
  end
  chunked('HDEL', held, ids)
  chunked('HDEL', K .. 'jobs', ids)
  return count
end
