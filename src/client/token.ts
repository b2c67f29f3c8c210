/**
 * Returns the `Authorization` header for a token, or no header for an empty token.
 *
 * @throws TypeError when the token contains characters that headers don't allow. Unlike the message of the platform,
 * its message doesn't contain the token.
 */
export function toAuthorization(token = ''): Record<string, string> {
  const bare = token.trim();
  if (bare === '') return {};
  if (!/^[\x21-\x7e]+$/.test(bare)) {
    throw new TypeError('Expected the token to contain only visible ASCII characters.');
  }
  return { Authorization: `Bearer ${bare}` };
}

/** Reads an environment variable in Node, Bun and Deno. Browsers have no environment. */
export function findEnvironmentToken(variable: string): string | undefined {
  const platform = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return platform.process?.env?.[variable];
}
