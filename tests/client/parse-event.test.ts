import { findEventEnd, parseEvent } from '../../src/client/parse-event.js';

test.each<[string, string, ReturnType<typeof parseEvent>]>([
  ['joins data lines', 'data: a\ndata:b\ndata\n\n', { data: 'a\nb\n' }],
  ['removes only one leading space', 'data:  a \n\n', { data: ' a ' }],
  ['allows colons in values', 'id: a:b\n\n', { id: 'a:b' }],
  ['uses the last id', 'id: a\nid\n\n', { id: '' }],
  ['ignores an id with NUL', 'id: a\0\n\n', {}],
  ['ignores an invalid retry', 'retry: soon\nretry: 1.5\n\n', {}],
  ['ignores unknown fields', 'event: x\nfoo: y\ndata: 1\n\n', { data: '1' }],
])('parseEvent %s', (_behaviour, text, fields) => {
  expect(parseEvent(text)).toEqual(fields);
});

test.each<[string, string, number]>([
  ['ends an event at a blank line', 'data: 1\n\ndata', 9],
  ['accepts carriage returns', 'data: 1\r\n\r\ndata', 11],
  ['waits after a carriage return that may be half of a line end', 'data: 1\r\n\r', 0],
  ['does not end an event at a line end', 'data: 1\n', 0],
])('findEnd %s', (_behaviour, text, end) => {
  expect(findEventEnd(text)).toBe(end);
  for (let searched = 0; searched < text.length; searched += 1) {
    // `searched` is valid only for a prefix without a complete event.
    if (findEventEnd(text.slice(0, searched)) === 0) expect(findEventEnd(text, searched)).toBe(end);
  }
});
