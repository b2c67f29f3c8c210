import { AppError } from '../core/errors.js';

/** More than twice the depth of any body in the contracts. The limit protects recursive functions. */
const MAX_DEPTH = 64;

/**
 * Parses JSON from an untrusted source.
 *
 * @throws AppError `malformed_body` if the bytes are not UTF-8 or not JSON, are nested too deeply, contain a property
 * `__proto__` (which would change the prototype of a copy) or a NUL (which PostgreSQL can't store).
 */
export function parseUntrustedJson(bytes: Uint8Array): unknown {
  const value = parse(bytes);
  const open: [unknown, number][] = [[value, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [current, depth] = next;
    if (typeof current === 'string') requireNoNul(current);
    if (typeof current !== 'object' || current === null) continue;
    if (depth > MAX_DEPTH)
      throw malformed(`Expected JSON nested at most ${MAX_DEPTH} levels deep; received more levels.`);
    for (const [name, member] of Object.entries(current)) {
      if (name === '__proto__') throw malformed('The property name "__proto__" is not allowed.');
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
    // The message of the parser quotes the body, which may contain a secret.
    throw new AppError('malformed_body', 'The body is not valid JSON in UTF-8.', { cause });
  }
}

function requireNoNul(text: string): void {
  if (text.includes('\0')) throw malformed('Text must not contain a NUL character.');
}

function malformed(message: string): AppError {
  return new AppError('malformed_body', message);
}
