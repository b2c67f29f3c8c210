/** The cookie that carries a session; the prefix makes browsers hold it to https and to this host. */
export function sessionCookieName({ isHttps }: { readonly isHttps: boolean }): string {
  return isHttps ? '__Host-trellis_session' : 'trellis_session';
}

/**
 * How long browsers keep it: 400 days, the longest that they do. The session
 * itself slides, and ends when it was not used for 30 days.
 */
const MAX_AGE_SECONDS = 400 * 86_400;

export interface SessionCookies {
  /** The `Set-Cookie` header that gives a browser its session. */
  give(sessionId: string): string;
  /** The `Set-Cookie` header that takes it away. */
  readonly clear: () => string;
}

/** @param publicUrl The origin that people use, asked when it is needed. */
export function createSessionCookies(publicUrl: () => string): SessionCookies {
  const format = (value: string, maxAgeSeconds: number): string => {
    const isHttps = new URL(publicUrl()).protocol === 'https:';
    const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${isHttps ? '; Secure' : ''}`;
    return `${sessionCookieName({ isHttps })}=${value}; ${attributes}`;
  };
  return { give: (sessionId) => format(sessionId, MAX_AGE_SECONDS), clear: () => format('', 0) };
}

/** Finds a cookie in a `Cookie` header; of several with one name the first counts. */
export function findCookie(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return undefined;
}
