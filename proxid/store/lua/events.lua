-- Evidence (DESIGN 10.1): an event gets its number in the same atomic step as the change it describes.
-- The stream's entry id is the event's number, so the log is gap-free by construction.
-- Salts come from the caller: functions have no randomness of their own.

local function append_event(prefix, kind, salt, header, payload)
  local number = redis.call('INCR', prefix .. ':events:n')
  redis.call('XADD', prefix .. ':events', number .. '-0', 't', kind, 's', salt, 'h', header, 'p', payload)
  return number
end
