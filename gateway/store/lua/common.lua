-- What the Identity Screener's atomic steps share. KEYS[1] is the prefix "{gw}", so that all keys share one hash slot.
--
--   k:TAG       hash of an epoch key: u user tag, id USER_ID, e epoch, p PROX_ID, s seasoned, l link, c credential
--   p:PROX_ID   tag of its epoch key            u:UTAG:EPOCH   tag of the user's live epoch key; empty if its user's key was revoked
--   e:UTAG      public key the user enrolled    x:UTAG         tombstone of an erased user
--   eo:UTAG     set of the keys that it replaced, or that were revoked: none of them is taken again
--   rv          set of the digests of revocations that REVOKED names
--   ek:SUBJECT  private evidence key            es:NAME        public one of a PROX_ID, for the writer
--   ob:UTAG     the user objected: no grant is taken; 1 until that is recorded, then 2
--   rq:DIGEST   a right was exercised by this request, which is not carried out twice: the place of that in the log; of an erasure for good
--   s:UTAG      hash of the user's person-epochs: subject tag → EPOCH|PROX_ID; two of an epoch if a key was lost in it
--   n:NONCE     request hash seen under a nonce a:SESSION      stored answer          open   sessions not answered
--   c:UTAG:E    hash of a consent: v version, w payload, at its place in the log, and a field PARTY|TYPE|FIDELITY for each grant; more in owed.lua
--   gs:UTAG     hash PARTY|TYPE, once granted → newest epoch in which the person took that back, or 0: nothing of epochs before goes
--   f:PARTY     sorted set of feed cursors      g:PARTY:CURSOR hash of a group in the feed: e epoch, n number,
--               k TYPE|FIDELITY, r records, m user tags, z 1 once SENT is recorded; once acknowledged it holds for retention.feeds
--               nothing but e, n, z, a 1, and dl, the acknowledgement and the place of DELIVERED
--   fk:PARTY    hash epoch → the party's feed key, sealed to it, while anything of the epoch may be in the feed
--   end:PARTY   of a store from before: acknowledged groups that are still in the feed, by the second until which they are known
--   o:PARTY     the cursors not acknowledged
--   ak          hash PARTY|PERIOD → key of the party's aliases      ake  the same by the second at which each goes
--   au:UTAG     the person's own part of them: without it no alias is found again
--   al:PARTY:NAME  an alias that ALIASED has named  nm:FORM     user tag of whose name has this form
--
-- What is a person's is found by the person's own index, which each step that writes something adds to:
--
--   s:UTAG      (above) implies k, u, p, c, ek and es of each person-epoch
--   i:UTAG      sorted set of other keys (n, a, r, al, nm, au) by the second at which they are gone by themselves
--   ig:UTAG     set PARTY|CURSOR of the groups in feeds that hold the person
--   rc:UTAG     sorted set PARTY|EPOCH|GROUP|RECORDS|SECOND|TYPE|FIDELITY of the groups with the person that the party acknowledged then,
--               by the second until which that is known
--   it:UTAG     hash PARTY|NAME → groups that the party has acknowledged under that name of the person's; 0: sent only
--   ps:UTAG     hash PARTY|EPOCH|GROUP|TYPE|FIDELITY → records that were sent, not acknowledged, and then taken back: possibly held, while
--               the links of their epochs are kept
--   jobs        user tags of erasures under way     j:UTAG   hash: r request, e enrolment, d groups dropped, v when logged
--   no:PARTY    sorted set of notices to a party by the second from which it gets them     nt:ID   hash of a notice:
--               p party, k kind, b sealed to the party, t second, a acknowledgement, at its second
--   y:UTAG      list of the notices that were made for a person; it stays when the person is erased

local key = below

-- Enter keys that end by themselves at a second, or never, into their owner's index.
local function enter(prefix, user, ends, ...)
  local entries = {}
  for i, name in ipairs({...}) do entries[2 * i - 1], entries[2 * i] = ends, name end
  redis.call('ZADD', key(prefix, 'i', user), unpack(entries))
end

local function forget_ended(prefix, user, now)
  redis.call('ZREMRANGEBYSCORE', key(prefix, 'i', user), '-inf', now)
end

-- The same of keys that end after ttl seconds, or never if it is nil; what has ended leaves the index.
local function own(prefix, user, ttl, ...)
  local now = tonumber(redis.call('TIME')[1])
  forget_ended(prefix, user, now)
  enter(prefix, user, ttl and now + ttl + 1 or '+inf', ...)
end

local function is_live(prefix, tag)
  local f = redis.call('HMGET', key(prefix, 'k', tag), 'u', 'e')
  local user = f[1]
  if not user or redis.call('EXISTS', key(prefix, 'x', user)) == 1 then return nil end
  if redis.call('GET', key(prefix, 'u', user, f[2])) ~= tag then return nil end
  return user
end

-- Whether a person took a grant PARTY|TYPE|… back in an epoch after this one, which may still be on its way from the main service.
local function took_back(prefix, user, epoch, grant)
  local since = redis.call('HGET', key(prefix, 'gs', user), string.match(grant, '^[^|]*|[^|]*'))
  return tonumber(since or '0') > tonumber(epoch)
end

-- Why nothing of a person may go out under a grant PARTY|TYPE|FIDELITY of an epoch; nil if it may.
local function refusal(prefix, user, epoch, grant)
  local erased = key(prefix, 'x', user)
  if redis.call('EXISTS', erased, key(prefix, 'ob', user)) > 0 then
    return redis.call('EXISTS', erased) == 1 and 'erased' or 'objected'
  end
  if redis.call('HEXISTS', key(prefix, 'c', user, epoch), grant) == 0 then return 'no_consent' end
  return took_back(prefix, user, epoch, grant) and 'withdrawn' or nil
end

-- PROX_IDs of a person's whose keys were lost: the credential of the key that took the place of one's names it.
local function lost_of(prefix, user)
  local lost, found = {}, {}
  for _, value in ipairs(redis.call('HVALS', key(prefix, 's', user))) do
    local epoch, prox = string.match(value, '^([^|]+)|(.+)$')
    local other = found[epoch]
    if other then
      local credential = redis.call('HGET', key(prefix, 'k', redis.call('GET', key(prefix, 'p', prox)) or ''), 'c')
      lost[#lost + 1] = credential and string.find(credential, other, 1, true) and other or prox
    end
    found[epoch] = prox
  end
  return lost
end

-- Another key took the place of a person's in an epoch: versions count from 1 again, and MS is owed no choice of the lost one's any
-- more, but that all that waits under it goes.
-- What was granted goes on for what is on its way, until something else is chosen.
local function choose_anew(prefix, user, epoch)
  local entry = key(prefix, 'c', user, epoch)
  if redis.call('EXISTS', entry) == 0 then return end
  redis.call('HSET', entry, 'v', '0', 'w', '')
  for _, name in ipairs(redis.call('HKEYS', entry)) do
    if name == 'k' or name == 'at' or string.match(name, '^o%d+$') then redis.call('HDEL', entry, name) end
  end
  redis.call('ZREM', key(prefix, 'owed'), 'consent|' .. user .. '|' .. epoch)
end

local function members_of(fields)
  local members = {}
  for user in string.gmatch(fields or '', '[^,]+') do members[#members + 1] = user end
  return members
end

-- Take a group out of a feed and out of its members' indexes.
local function forget_group(prefix, party, cursor)
  local entry = key(prefix, 'g', party, cursor)
  for _, user in ipairs(members_of(redis.call('HGET', entry, 'm'))) do
    redis.call('SREM', key(prefix, 'ig', user), party .. '|' .. cursor)
  end
  for _, kind in ipairs({'f', 'o', 'end', 'late'}) do redis.call('ZREM', key(prefix, kind, party), cursor) end
  redis.call('DEL', entry, key(prefix, 'ge', party, cursor))
end

-- What a party has acknowledged leaves its feed. Who, when and to which party stays with the person, and what acknowledged it with
-- the cursor: at: the second at which it did; kept: seconds from now.
local function leave_feed(prefix, party, cursor, at, kept)
  local entry, counts, now = key(prefix, 'g', party, cursor), {}, tonumber(redis.call('TIME')[1])
  local f = redis.call('HMGET', entry, 'e', 'n', 'k', 'm', 'dl')
  forget_group(prefix, party, cursor)
  if kept <= 0 then return end
  for _, user in ipairs(members_of(f[4])) do counts[user] = (counts[user] or 0) + 1 end
  counts['-'] = nil
  for user, count in pairs(counts) do
    local index = key(prefix, 'rc', user)
    redis.call('ZREMRANGEBYSCORE', index, '-inf', now)
    redis.call('ZADD', index, now + kept, table.concat({party, f[1], f[2], count, at, f[3]}, '|'))
    if redis.call('TTL', index) < kept then redis.call('EXPIRE', index, kept) end
  end
  redis.call('HSET', entry, 'e', f[1], 'n', f[2], 'z', '1', 'a', '1', 'dl', f[5] or '')
  redis.call('EXPIRE', entry, kept)
end

-- What is known of groups with a person that were acknowledged: party, epoch, group, records, second, TYPE|FIDELITY of each.
local function received(prefix, user)
  local found, now = {}, redis.call('TIME')[1]
  for _, name in ipairs(redis.call('ZRANGE', key(prefix, 'rc', user), now, '+inf', 'BYSCORE')) do
    found[#found + 1] = {string.match(name, '^([^|]*)|(%d+)|(%d+)|(%d+)|(%d+)|(.*)$')}
  end
  return found
end

-- DROPPED, whose header says `more`; what goes because somebody is being erased is remembered with the erasure, whose event will name it.
local function dropped(prefix, party, epoch, group, reason, salt, members, more)
  local header = more or {}
  header.epoch, header.group, header.party, header.reason = tonumber(epoch), tonumber(group), party, reason
  append_event(prefix, 'DROPPED', salt, cjson.encode(header), '')
  for _, user in ipairs(reason == 'erased' and members or {}) do
    local job = key(prefix, 'j', user)
    if user ~= '' and redis.call('EXISTS', job) == 1 then
      redis.call('HSET', job, 'd', (redis.call('HGET', job, 'd') or '') .. epoch .. '/' .. group .. '/' .. party .. '\n')
    end
  end
end

-- The party may hold (0), or has acknowledged (1 more), a record under each member's name.
local function held_by(prefix, party, fields, more)
  local names = cjson.decode(fields[2] or '[]')
  for i, user in ipairs(members_of(fields[1])) do
    if names[i] then redis.call('HINCRBY', key(prefix, 'it', user), party .. '|' .. names[i], more) end
  end
end

-- What is taken back after it was sent may be held by the party: that stays known of whose it is, for as long as the epoch's links.
local function possibly_held(prefix, party, cursor, users)
  local f = redis.call('HMGET', key(prefix, 'g', party, cursor), 'z', 'e', 'n', 'k')
  for _, user in ipairs(f[1] == '1' and users or {}) do
    local held, ttl = key(prefix, 'ps', user), redis.call('TTL', key(prefix, 'c', user, f[2]))
    if ttl > 0 then
      redis.call('HINCRBY', held, table.concat({party, f[2], f[3], f[4]}, '|'), 1)
      if redis.call('TTL', held) < ttl then redis.call('EXPIRE', held, ttl) end
    end
  end
end

local function drop_group(prefix, party, cursor, reason, salt, time)
  local fields = redis.call('HMGET', key(prefix, 'g', party, cursor), 'e', 'n', 'm', 'd')
  possibly_held(prefix, party, cursor, members_of(fields[3]))
  forget_group(prefix, party, cursor)
  local more = {audience = fields[4] or nil, time = time}
  dropped(prefix, party, fields[1], fields[2], reason, salt, members_of(fields[3]), more)
end

-- Groups in feeds by what a person's index calls them: party, cursor, and the group's fields of these names; in their order.
local function groups_named(prefix, names, ...)
  local found = {}
  table.sort(names)
  for _, name in ipairs(names) do
    local party, cursor = string.match(name, '^(.*)|(%d+)$')
    found[#found + 1] = {party, cursor, redis.call('HMGET', key(prefix, 'g', party, cursor), ...)}
  end
  return found
end

-- All of a person's.
local function groups_of(prefix, user, ...)
  return groups_named(prefix, redis.call('SMEMBERS', key(prefix, 'ig', user)), ...)
end

local function with_list(header, name, items)
  return (header:gsub('"' .. name .. '":%[%]', function()
    return '"' .. name .. '":' .. (#items == 0 and '[]' or cjson.encode(items))
  end))
end

-- A header that says what waits in the feeds, and the last release that was handled: whatever else the auditor misses has
-- vanished. A store from before does not know the last release until there is one.
local function with_feeds(prefix, header, parties)
  local last, feeds = redis.call('GET', key(prefix, 'last')), {}
  if not last and redis.call('EXISTS', key(prefix, 'released')) == 1 then return header end
  for _, party in ipairs(parties) do feeds[#feeds + 1] = party .. ':' .. redis.call('ZCARD', key(prefix, 'o', party)) end
  header = header:gsub('"last":""', function() return '"last":' .. cjson.encode(last or '') end)
  return with_list(header, 'feeds', feeds)
end

-- While a library is loaded there is no `pairs`: one line each.
local function reads(name, fn)
  redis.register_function{function_name = name, callback = fn, flags = {'no-writes'}}
end
