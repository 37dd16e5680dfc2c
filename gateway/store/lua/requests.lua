-- The request path: nonces, rates, stored answers (DESIGN 5.2, 5.4). Keys and helpers are common.lua's.

-- Named fields: key_tag, nonce_tag, session, now (s), ttl (of the nonce, s), rate (requests a minute), salt, header, payload
local function gw_forward(keys, a)
  local prefix = keys[1]
  require_room(prefix)
  local f = named(a)
  local user = is_live(prefix, f.key_tag)
  if not user then return {'UNREGISTERED'} end
  local seen = redis.call('GET', key(prefix, 'n', f.nonce_tag))
  if seen then
    if seen ~= f.session then return {'REPLAYED'} end
    local answer = redis.call('GET', key(prefix, 'a', f.session))
    if answer then return {'ANSWERED', answer} end
    return {'RETRY'}
  end
  local window = key(prefix, 'r', user, math.floor(tonumber(f.now) / 60))
  local asked = redis.call('INCR', window)
  if asked > tonumber(f.rate) then return {'RATE'} end
  redis.call('SET', key(prefix, 'n', f.nonce_tag), f.session, 'EX', f.ttl)
  if asked == 1 then
    redis.call('EXPIRE', window, 120)
    own(prefix, user, tonumber(f.ttl), 'n:' .. f.nonce_tag, window:sub(#prefix + 2))
  else own(prefix, user, tonumber(f.ttl), 'n:' .. f.nonce_tag) end
  redis.call('ZADD', key(prefix, 'open'), f.now, f.session)
  append_event(prefix, 'FORWARDED', f.salt, f.header, f.payload)
  return {'NEW'}
end

-- Named fields: session, user_tag, answer, ttl (s), salt, header, payload. The first answer stays; nothing is returned to whoever
-- brought it. For somebody who was erased meanwhile nothing is kept, and the log says no more than that MS may have it.
local function gw_answered(keys, a)
  local prefix, f = keys[1], named(a)
  local answer = redis.call('GET', key(prefix, 'a', f.session))
  if answer then return answer end
  if redis.call('EXISTS', key(prefix, 'e', f.user_tag)) == 0 then
    if redis.call('ZREM', key(prefix, 'open'), f.session) == 1 then append_event(prefix, 'UNREACHED', f.salt, f.header, '') end
    return false
  end
  redis.call('SET', key(prefix, 'a', f.session), f.answer, 'EX', f.ttl)
  own(prefix, f.user_tag, tonumber(f.ttl), 'a:' .. f.session)
  redis.call('ZREM', key(prefix, 'open'), f.session)
  append_event(prefix, 'ANSWERED', f.salt, f.header, f.payload)
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

-- ARGV: salt, header; of a person payload and name of the evidence key, without which (the person was erased) nobody is named
local function gw_refused(keys, a)
  local named = a[4] and redis.call('EXISTS', a[4]) == 1
  return append_event(keys[1], 'REFUSED', a[1], a[2], named and a[3] or '')
end

redis.register_function('gw_forward', gw_forward)
redis.register_function('gw_answered', gw_answered)
redis.register_function('gw_unreached', gw_unreached)
redis.register_function('gw_settled', gw_settled)
reads('gw_open', gw_open)
redis.register_function('gw_refused', gw_refused)
