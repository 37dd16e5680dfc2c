-- The request path: nonces, rates, stored answers (DESIGN 5.2, 5.4). Keys and helpers are common.lua's.

-- ARGV: key tag, nonce tag, session, now s, nonce ttl s, requests a minute, salt, header, payload
local function gw_forward(keys, a)
  local prefix = keys[1]
  require_room(prefix)
  local user = is_live(prefix, a[1])
  if not user then return {'UNREGISTERED'} end
  local seen = redis.call('GET', key(prefix, 'n', a[2]))
  if seen then
    if seen ~= a[3] then return {'REPLAYED'} end
    local answer = redis.call('GET', key(prefix, 'a', a[3]))
    if answer then return {'ANSWERED', answer} end
    return {'RETRY'}
  end
  local window = key(prefix, 'r', user, math.floor(tonumber(a[4]) / 60))
  if redis.call('INCR', window) > tonumber(a[6]) then return {'RATE'} end
  redis.call('EXPIRE', window, 120)
  redis.call('SET', key(prefix, 'n', a[2]), a[3], 'EX', a[5])
  own(prefix, user, tonumber(a[5]), 'n:' .. a[2], window:sub(#prefix + 2))
  redis.call('ZADD', key(prefix, 'open'), a[4], a[3])
  append_event(prefix, 'FORWARDED', a[7], a[8], a[9])
  return {'NEW'}
end

-- ARGV: session, answer, ttl s, salt, header, payload, user tag. The first answer stays; nothing is returned to whoever
-- brought it. For somebody who was erased meanwhile nothing is kept, and the log says no more than that MS may have it.
local function gw_answered(keys, a)
  local prefix = keys[1]
  local answer = redis.call('GET', key(prefix, 'a', a[1]))
  if answer then return answer end
  if redis.call('EXISTS', key(prefix, 'e', a[7])) == 0 then
    if redis.call('ZREM', key(prefix, 'open'), a[1]) == 1 then append_event(prefix, 'UNREACHED', a[4], a[5], '') end
    return false
  end
  redis.call('SET', key(prefix, 'a', a[1]), a[2], 'EX', a[3])
  own(prefix, a[7], tonumber(a[3]), 'a:' .. a[1])
  redis.call('ZREM', key(prefix, 'open'), a[1])
  append_event(prefix, 'ANSWERED', a[4], a[5], a[6])
  return false
end

-- ARGV: session, salt, header. Says that MS may never have got it; a later retry may still be answered.
local function gw_unreached(keys, a)
  local prefix = keys[1]
  if redis.call('ZREM', key(prefix, 'open'), a[1]) == 0 then return 0 end
  append_event(prefix, 'UNREACHED', a[2], a[3], '')
  return 1
end

-- ARGV: session. MS has answered with a refusal, which its own log holds.
local function gw_settled(keys, a)
  return redis.call('ZREM', key(keys[1], 'open'), a[1])
end

-- ARGV: limit, latest time. Sessions that were forwarded until then and are not settled.
local function gw_open(keys, a)
  return redis.call('ZRANGE', key(keys[1], 'open'), '-inf', a[2], 'BYSCORE', 'LIMIT', 0, a[1])
end

-- ARGV: salt, header
local function gw_refused(keys, a)
  return append_event(keys[1], 'REFUSED', a[1], a[2], '')
end

redis.register_function('gw_forward', gw_forward)
redis.register_function('gw_answered', gw_answered)
redis.register_function('gw_unreached', gw_unreached)
redis.register_function('gw_settled', gw_settled)
reads('gw_open', gw_open)
redis.register_function('gw_refused', gw_refused)
