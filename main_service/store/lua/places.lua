-- The ledger of reported places (DESIGN 8.8): each different place costs the person part of the epoch's budget.
--
--   places:EPOCH:PROX_ID   set of the names of the places that the person has reported

-- ARGV: epoch, PROX_ID, name, how many places are allowed, ttl s. 1 if it may be reported, for the first time or again.
local function ms_report_place(keys, a)
  local reported = mkey(keys[1], 'places', a[1], a[2])
  if redis.call('SISMEMBER', reported, a[3]) == 1 then return 1 end
  if redis.call('SCARD', reported) >= tonumber(a[4]) then return 0 end
  redis.call('SADD', reported, a[3])
  redis.call('EXPIRE', reported, a[5])
  return 1
end

redis.register_function('ms_report_place', ms_report_place)
