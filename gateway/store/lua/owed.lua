-- What the main service is to be told of a person and was not yet (DESIGN 7, 11). Keys and helpers are common.lua's; beside those:
--
--   owed        sorted set of `object|UTAG`, `consent|UTAG|EPOCH` and `lost|UTAG|EPOCH` by the second from which whoever asks may tell it
--   oj:UTAG     hash of an objection that is in effect and not recorded, or of what takes it back: r request, e enrolment,
--               d digest, l the last release that was handled when it took effect
--   c:UTAG:E    o1, o2, … payloads of consents by version that were not acknowledged; k the newest version that was

-- Whoever puts something here tells it at once, and has some seconds for that.
local function owe(prefix, name, seconds)
  redis.call('ZADD', key(prefix, 'owed'), redis.call('TIME')[1] + seconds, name)
end

-- ARGV: limit: what may be told now.
local function gw_due(keys, a)
  return redis.call('ZRANGE', key(keys[1], 'owed'), '-inf', redis.call('TIME')[1], 'BYSCORE', 'LIMIT', 0, a[1])
end

-- ARGV: name, seconds. 1 if the caller is to tell it: for so long nobody else is.
local function gw_claim(keys, a)
  local due, now = redis.call('ZSCORE', key(keys[1], 'owed'), a[1]), tonumber(redis.call('TIME')[1])
  if not due or tonumber(due) > now then return 0 end
  owe(keys[1], a[1], a[2])
  return 1
end

-- ARGV: name, seconds. It could not be told, and will be later.
local function gw_put_off(keys, a)
  return redis.call('ZADD', key(keys[1], 'owed'), 'XX', redis.call('TIME')[1] + a[2], a[1])
end

-- ARGV: user tag, epoch: payloads of consents that were not acknowledged, in their order.
local function gw_owed_consents(keys, a)
  local entry, found, versions = key(keys[1], 'c', a[1], a[2]), {}, {}
  for _, name in ipairs(redis.call('HKEYS', entry)) do versions[#versions + 1] = tonumber(string.match(name, '^o(%d+)$')) end
  table.sort(versions)
  for i, version in ipairs(versions) do found[i] = redis.call('HGET', entry, 'o' .. version) end
  return found
end

-- ARGV: user tag: request and enrolment of the objection that is not recorded, or of what takes it back; 0 if it is one of somebody
-- who objects already.
local function gw_owed_objection(keys, a)
  return redis.call('HMGET', key(keys[1], 'oj', a[1]), 'r', 'e', 'f')
end

reads('gw_due', gw_due)
redis.register_function('gw_claim', gw_claim)
redis.register_function('gw_put_off', gw_put_off)
reads('gw_owed_consents', gw_owed_consents)
reads('gw_owed_objection', gw_owed_objection)
