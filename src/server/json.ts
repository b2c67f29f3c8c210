import { AppError } from '../errors.js';

/** No document of the contracts nests half as deep, and what walks a body later may recurse. */
const MAX_DEPTH = 64;

/**
 * Reads a JSON text from outside.
 *
 * @throws AppError `malformed_body` when it is not UTF-8 or not JSON, nests too
 * deep, names a property `__proto__` (which would change the object that it is
 * copied to) or holds a NUL (which no database keeps).
 */
export function parseJson(bytes: Uint8Array): unknown {
  const value = parse(bytes);
  const open: [unknown, number][] = [[value, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [current, depth] = next;
    if (typeof current === 'string') requireNoNul(current);
    if (typeof current !== 'object' || current === null) continue;
    if (depth > MAX_DEPTH) throw malformed(`Expected JSON nested at most ${MAX_DEPTH} deep; received more.`);
    for (const [name, member] of Object.entries(current)) {
      if (name === '__proto__') throw malformed('Expected no property named "__proto__"; received one.');
      requireNoNul(name);
      open.push([member, depth + 1]);
    }
  }
  return value;
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    // The parser's own message quotes the body, which may hold a secret.
    throw new AppError('malformed_body', 'Expected a JSON body in UTF-8; could not read it.', { cause });
  }
}

function requireNoNul(text: string): void {
  if (text.includes('\0')) throw malformed('Expected text without NUL; received one.');
}

function malformed(message: string): AppError {
  return new AppError('malformed_body', message);
}
