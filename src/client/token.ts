/**
 * The `Authorization` header for a token, or none for an empty one.
 *
 * @throws TypeError when the token holds what no header may; said without the
 * token itself, which the platform's own message would show.
 */
export function toAuthorization(token = ''): Record<string, string> {
  const bare = token.trim();
  if (bare === '') return {};
  if (!/^[\x21-\x7e]+$/.test(bare)) {
    throw new TypeError('Expected the token to be visible ASCII characters without spaces.');
  }
  return { Authorization: `Bearer ${bare}` };
}

/** Reads the environment where there is one: Node, Bun and Deno, not a browser. */
export function findEnvironmentToken(variable: string): string | undefined {
  const platform = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return platform.process?.env?.[variable];
}
