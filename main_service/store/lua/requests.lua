-- The Main Service's atomic steps on the request path. KEYS[1] is the prefix "{ms}", so all keys share one slot.
--
--   n:NONCE   request hash seen under a nonce     a:SESSION   stored answer        q:KEY      credential
--   b:SESSION when (ms) the one call of an upstream ends
--   pending   sorted set of sessions by the number of RECEIVED   w:SESSION   hash of what waits
--   c:PROX    hash of a consent: b bundle, v version, h hash of the message, a acknowledgement, at place in the log
--   rf:SESSION  the code by which a message was refused, which the same bytes are refused by again
--   closed    the newest epoch that was closed    opening   hash of IS's latest word that an epoch has begun
--   epoch:N   hash of an epoch's secrets         people:N  set PROX|KEY|NAME of its people's credentials and evidence keys
--   ob:PROX   nothing is logged, whatever was consented: 1 the person objected, 2 their key was lost, 3 and nothing waits under it
--   rw:DIGEST where RESTRICTED of a word of IS's stands that was heeded
--   i:PROX    what is found by the person's own index alone: sorted set of q, n, a, b and w keys by the second at which they
--             are gone by themselves, and m:EPOCH:KEY, that people:EPOCH names it; everything else of a person is named by the PROX_ID

local mkey = below

local KEPT = 172800

-- Enter keys into their owner's index, which lasts longer than any of them: the second (`now`: this one), then of each the
-- seconds after which it ends, and its name. What has ended leaves the index once the first of it did a minute ago, so that
-- this is done once a minute, whatever else the index holds.
local function own(prefix, prox, now, ...)
  local index, longest, entries = mkey(prefix, 'i', prox), 0, {...}
  for i = 1, #entries, 2 do
    local ttl = tonumber(entries[i])
    longest, entries[i] = math.max(longest, ttl), now + ttl + 1
  end
  redis.call('ZADD', index, unpack(entries))
  if redis.call('TTL', index) < longest + KEPT then redis.call('EXPIRE', index, longest + KEPT + 60) end
  if redis.call('ZCOUNT', index, '-inf', now - 60) > 0 then redis.call('ZREMRANGEBYSCORE', index, '-inf', now) end
end

-- SUPPRESSED of a request that never waited. `payload`: what would have waited, if the reason is about that; `pipeline`: the version
-- that read it, if it was read.
local function not_logged(prefix, salt, session, kind, reason, payload, pipeline, time)
  local by = pipeline and '"pipeline":' .. cjson.encode(pipeline) .. ',' or ''
  local header = string.format('{"kind":"%s",%s"reason":"%s","session":"%s","v":2}', kind, by, reason, hex(session))
  append_event(prefix, 'SUPPRESSED', salt, header, payload or '', time)
  count_withheld(prefix, kind, reason)
end

-- ARGV: key tag
local function ms_credential(keys, a)
  return redis.call('GET', mkey(keys[1], 'q', a[1]))
end

-- Named fields: key_tag, credential, epoch, ttl (s), evidence_name, evidence_key, prox_id; instead (the PROX_ID of a lost key whose
-- place this one takes, or ''), under which IS must have had everything given up, for good
local function ms_put_credential(keys, a)
  local prefix, f = keys[1], named(a)
  if (f.instead or '') ~= '' and redis.call('GET', mkey(prefix, 'ob', f.instead)) ~= '3' then return 'WAITS' end
  local people, marked = mkey(prefix, 'people', f.epoch), 'm:' .. f.epoch .. ':' .. f.key_tag
  own(prefix, f.prox_id, tonumber(redis.call('TIME')[1]), f.ttl, 'q:' .. f.key_tag, f.ttl, marked)
  redis.call('SET', f.evidence_name, f.evidence_key, 'EX', f.ttl)
  redis.call('SADD', people, f.prox_id .. '|' .. f.key_tag .. '|' .. f.evidence_name)
  redis.call('EXPIRE', people, f.ttl)
  return redis.call('SET', mkey(prefix, 'q', f.key_tag), f.credential, 'EX', f.ttl)
end

-- What a session comes to whose nonce was seen with `seen`.
local function known_answer(prefix, seen, session)
  if not seen then return {'NEW', ''} end
  if seen ~= session then return {'REPLAYED', ''} end
  return {'ANSWERED', redis.call('GET', mkey(prefix, 'a', session)) or ''}
end

-- ARGV: nonce tag, session
local function ms_answer(keys, a)
  return known_answer(keys[1], redis.call('GET', mkey(keys[1], 'n', a[1])), a[2])
end

-- ARGV: session, prox, ttl (s), lease (ms). Who asks an upstream: nothing for the first, the ms it has left for others.
local function ms_begin(keys, a)
  local name, time = mkey(keys[1], 'b', a[1]), redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local entered = redis.call('GET', name)
  if entered then return math.max(0, tonumber(entered) - now) end
  own(keys[1], a[2], tonumber(time[1]), a[3], 'b:' .. a[1])
  redis.call('SET', name, string.format('%d', now + a[4]), 'EX', a[3])
  return false
end

-- Named fields: nonce_tag, session, epoch, ttl (s), prox_id, answer, pending; salt, header and payload of RECEIVED;
--       suppressed_salt; withheld, the reason to withhold it whatever the consent, or ''
-- Without consent to anybody nothing of the utterance is kept (DESIGN 7).
local function ms_receive(keys, a)
  local prefix, f = keys[1], named(a)
  local session, prox, ttl = f.session, f.prox_id, f.ttl
  local found = redis.call('MGET', mkey(prefix, 'n', f.nonce_tag), mkey(prefix, 'rf', session), mkey(prefix, 'closed'),
    prefix .. ':events:full', mkey(prefix, 'ob', prox))
  local known = known_answer(prefix, found[1], session)
  if known[1] ~= 'NEW' then return known end
  if found[2] then return {'REFUSED', found[2]} end
  -- Its keys are gone: what was answered meanwhile is not received any more.
  if tonumber(f.epoch) <= tonumber(found[3] or '-1') then return {'OVER', ''} end
  require_room(prefix, found[4])
  local time, nonce, answer = redis.call('TIME'), 'n:' .. f.nonce_tag, 'a:' .. session
  local now = tonumber(time[1])
  redis.call('SET', mkey(prefix, nonce), session, 'EX', ttl)
  redis.call('SET', mkey(prefix, answer), f.answer, 'EX', ttl)
  local number = append_event(prefix, 'RECEIVED', f.salt, f.header, f.payload, time)
  local consent = redis.call('HMGET', mkey(prefix, 'c', prox), 'b', 'v')
  local reason, restricted = f.withheld, found[5]
  if reason == '' and (not consent[1] or consent[1] == 'nothing') then reason = 'no_consent' end
  if reason == '' and restricted then reason = 'restricted' end
  if reason ~= '' then
    own(prefix, prox, now, ttl, nonce, ttl, answer)
    not_logged(prefix, f.suppressed_salt, session, 'unknown', reason, nil, nil, time)
  else
    own(prefix, prox, now, ttl, nonce, ttl, answer, KEPT, 'w:' .. session)
    redis.call('HSET', mkey(prefix, 'w', session), 'p', f.pending, 'b', consent[1], 'v', consent[2])
    redis.call('ZADD', mkey(prefix, 'pending'), number, session)
  end
  return {'NEW', ''}
end

-- ARGV: salt, header, session, code, ttl (s). The first refusal stays, and is recorded; what was received is not refused any
-- more. Returns the code that counts.
local function ms_refuse(keys, a)
  local prefix, entry = keys[1], mkey(keys[1], 'rf', a[3])
  local first = redis.call('GET', entry)
  if first then return first end
  if redis.call('EXISTS', mkey(prefix, 'a', a[3])) == 0 then
    redis.call('SET', entry, a[4], 'EX', a[5])
    append_event(prefix, 'REFUSED', a[1], a[2], '')
  end
  return a[4]
end

-- ARGV: limit
local function ms_pending(keys, a)
  local prefix, rows = keys[1], {}
  for _, session in ipairs(redis.call('ZRANGE', mkey(prefix, 'pending'), 0, tonumber(a[1]) - 1)) do
    local fields = redis.call('HMGET', mkey(prefix, 'w', session), 'p', 'b', 'v')
    for _, item in ipairs({session, fields[1], fields[2], fields[3]}) do rows[#rows + 1] = item end
  end
  return rows
end

-- Take a session out of what waits for anonymisation; false if somebody else has.
local function settle_pending(prefix, session)
  redis.call('DEL', mkey(prefix, 'w', session))
  return redis.call('ZREM', mkey(prefix, 'pending'), session) == 1
end

-- Why a request does not wait any more that was received under a consent of this version; nil if it may.
local function not_allowed(prefix, prox, version)
  if redis.call('EXISTS', mkey(prefix, 'ob', prox)) == 1 then return 'restricted' end
  if (redis.call('HGET', mkey(prefix, 'c', prox), 'v') or '0') ~= version then return 'consent_changed' end
end

-- ARGV: session, salt, type, reason, version of the pipeline
local function ms_suppress(keys, a)
  if not settle_pending(keys[1], a[1]) then return 0 end
  not_logged(keys[1], a[2], a[1], a[3], a[4], nil, a[5])
  return 1
end

-- ARGV: epoch
local function ms_epoch(keys, a)
  return redis.call('HMGET', mkey(keys[1], 'epoch', a[1]), 'seed', 'opening', 'key', 'feeds')
end

-- Named fields: epoch, seed, opening (seed of the opening key), key (the epoch's), feeds (the parties' keys, sealed), salt,
-- header, payload. Whoever is first decides the secrets. Nothing is opened at or before an epoch that was closed.
local function ms_open_epoch(keys, a)
  local f = named(a)
  local entry = mkey(keys[1], 'epoch', f.epoch)
  local closed = tonumber(redis.call('GET', mkey(keys[1], 'closed')) or '-1')
  if redis.call('EXISTS', entry) == 0 and tonumber(f.epoch) > closed then
    redis.call('HSET', entry, 'seed', f.seed, 'opening', f.opening, 'key', f.key, 'feeds', f.feeds)
    redis.call('SADD', mkey(keys[1], 'epochs'), f.epoch)
    append_event(keys[1], 'EPOCH_OPENED', f.salt, f.header, f.payload)
  end
  return redis.call('HMGET', entry, 'seed', 'opening', 'key', 'feeds')
end

-- Epochs whose secrets exist.
local function ms_open_epochs(keys, a)
  return redis.call('SMEMBERS', mkey(keys[1], 'epochs'))
end

-- ARGV: epoch, IS's word that it has begun. The latest is kept; a clock that is set back over an epoch's start by a little
-- takes nothing back.
local function ms_keep_opening(keys, a)
  local entry = mkey(keys[1], 'opening')
  local kept = tonumber(redis.call('HGET', entry, 'e') or '-2')
  if kept == tonumber(a[1]) or kept == tonumber(a[1]) + 1 then return 0 end
  return redis.call('HSET', entry, 'e', a[1], 'd', a[2])
end

local function ms_opening(keys, a)
  return redis.call('HMGET', mkey(keys[1], 'opening'), 'e', 'd')
end

-- ARGV: epoch, s, limit. Nothing waits in it any more: credentials, evidence keys and choices of its people end so much later, of
-- some at a time. 1 if there are more.
local function ms_let_go(keys, a)
  local prefix, people, now = keys[1], mkey(keys[1], 'people', a[1]), tonumber(redis.call('TIME')[1])
  for _, one in ipairs(redis.call('SPOP', people, a[3])) do
    local prox, tag, evidence = string.match(one, '^([^|]+)|([^|]+)|(.+)$')
    for _, name in ipairs({evidence, mkey(prefix, 'q', tag), mkey(prefix, 'c', prox)}) do
      if redis.call('TTL', name) > tonumber(a[2]) then redis.call('EXPIRE', name, a[2]) end
    end
    local index = mkey(prefix, 'i', prox)
    redis.call('ZADD', index, 'XX', now + a[2] + 1, 'q:' .. tag)
    redis.call('ZREM', index, 'm:' .. a[1] .. ':' .. tag)
    local last = redis.call('ZRANGE', index, -1, -1, 'WITHSCORES')[2]
    if last then redis.call('EXPIRE', index, math.max(0, math.floor(last - now)) + KEPT + 60) end
  end
  return redis.call('EXISTS', people)
end

-- ARGV: epoch, salt, header. Destroys the epoch's secrets.
local function ms_close_epoch(keys, a)
  if redis.call('SREM', mkey(keys[1], 'epochs'), a[1]) == 0 then return 0 end
  redis.call('DEL', mkey(keys[1], 'epoch', a[1]))
  local closed = tonumber(redis.call('GET', mkey(keys[1], 'closed')) or '-1')
  if tonumber(a[1]) > closed then redis.call('SET', mkey(keys[1], 'closed'), a[1]) end
  return append_event(keys[1], 'EPOCH_CLOSED', a[2], a[3], '')
end

redis.register_function('ms_put_credential', ms_put_credential)
redis.register_function('ms_begin', ms_begin)
redis.register_function('ms_receive', ms_receive)
redis.register_function('ms_refuse', ms_refuse)
redis.register_function('ms_suppress', ms_suppress)
redis.register_function('ms_open_epoch', ms_open_epoch)
redis.register_function('ms_let_go', ms_let_go)
redis.register_function('ms_close_epoch', ms_close_epoch)
redis.register_function('ms_keep_opening', ms_keep_opening)
redis.register_function{function_name = 'ms_opening', callback = ms_opening, flags = {'no-writes'}}
redis.register_function{function_name = 'ms_credential', callback = ms_credential, flags = {'no-writes'}}
redis.register_function{function_name = 'ms_answer', callback = ms_answer, flags = {'no-writes'}}
redis.register_function{function_name = 'ms_pending', callback = ms_pending, flags = {'no-writes'}}
redis.register_function{function_name = 'ms_epoch', callback = ms_epoch, flags = {'no-writes'}}
redis.register_function{function_name = 'ms_open_epochs', callback = ms_open_epochs, flags = {'no-writes'}}
