-- ARGV: time, mode. Mode D is for jobs that ended well: holder, then id and epoch of each. Mode X
-- has holder, id, epoch, ending, span, a flag and bytes of each.
if ARGV[2] == 'D' and not (conf and (conf.deps or conf.limits)) then
  local held, ids, known = K .. 'held:' .. ARGV[3], {}, {}
  local count, plain = 0, true
  for i = 4, #ARGV, 2 do
    count = count + 1
    ids[count] = ARGV[i]
    plain = plain and not known[ARGV[i]]
    known[ARGV[i]] = true
  end
  local values = fetched(held, ids)
  for i = 1, count do
    local value, epoch = values[i], ARGV[i * 2 + 3]
    plain = plain and value and string.sub(value, 1, #epoch + 1) == epoch .. '.'
      and not string.find(value, '+', 1, true)
  end
  if plain then
    chunked('HDEL', held, ids)
    chunked('HDEL', K .. 'jobs', ids)
    call('HINCRBY', K .. 'counts', 'running', -count)
    call('HINCRBY', K .. 'counts', 't.done', count)
    return 1
  end
end
