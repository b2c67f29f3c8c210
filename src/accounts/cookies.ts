/** Returns the name of the session cookie. The prefix `__Host-` makes browsers restrict it to https and this host. */
export function sessionCookieName({ isHttps }: { readonly isHttps: boolean }): string {
  return isHttps ? '__Host-trellis_session' : 'trellis_session';
}

/**
 * The lifetime of the cookie: 400 days, the maximum in browsers. The session itself expires 30 days after its last use.
 */
const MAX_AGE_SECONDS = 400 * 86_400;

export interface SessionCookies {
  /** Formats the `Set-Cookie` header that sets the session cookie. */
  set(sessionId: string): string;
  /** Formats the `Set-Cookie` header that deletes the session cookie. */
  readonly clear: () => string;
}

/** @param publicUrl Returns the public origin; called for every cookie. */
export function createSessionCookies(publicUrl: () => string): SessionCookies {
  const format = (value: string, maxAgeSeconds: number): string => {
    const isHttps = new URL(publicUrl()).protocol === 'https:';
    const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${isHttps ? '; Secure' : ''}`;
    return `${sessionCookieName({ isHttps })}=${value}; ${attributes}`;
  };
  return { set: (sessionId) => format(sessionId, MAX_AGE_SECONDS), clear: () => format('', 0) };
}

/** Finds the first cookie with a name in a `Cookie` header. */
export function findCookie(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return undefined;
}
