const BROWSERS = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari'];
const SYSTEMS = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac', 'Linux'];

/** Returns a coarse name for a browser, without versions: at most 18 characters, such as "Firefox on Linux". */
export function nameBrowser(userAgent: string): string {
  const browser = BROWSERS.find((name) => userAgent.includes(name)) ?? 'Browser';
  const system = SYSTEMS.find((name) => userAgent.includes(name));
  const name = { Edg: 'Edge', OPR: 'Opera' }[browser] ?? browser;
  return system === undefined ? name : `${name} on ${system}`;
}
