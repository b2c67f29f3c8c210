/** The cookie that carries a session; the prefix makes browsers hold it to https and to this host. */
export function sessionCookieName({ isHttps }: { readonly isHttps: boolean }): string {
  return isHttps ? '__Host-trellis_session' : 'trellis_session';
}

/** Finds a cookie in a `Cookie` header; of several with one name the first counts. */
export function findCookie(header: string, name: string): string | undefined {
  for (const pair of header.split(';')) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return undefined;
}
