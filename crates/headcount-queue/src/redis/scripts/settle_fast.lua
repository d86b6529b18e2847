-- ARGV: time, mode. Mode D is for jobs that ended well: holder, then what `forget_all` takes.
-- Mode X has holder, id, epoch, ending, span, a flag and bytes of each.
if ARGV[2] == 'D' and not (conf and (conf.deps or conf.limits)) then
  local count = forget_all(ARGV[3], 4)
  if count then
    call('HINCRBY', K .. 'counts', 'running', -count)
    call('HINCRBY', K .. 'counts', 't.done', count)
    return 1
  end
end
