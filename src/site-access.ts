import { readFile } from 'node:fs/promises';
import { CONFIG_OPTIONS, SITE_TOKEN_PATTERN } from './config-options.js';
import type { ConfigValues } from './config-options.js';
import { StartupError } from './startup-error.js';

/** The callers that may read the site: all, signed-in users and their API tokens, or those with the site token. */
export type SiteAccess =
  { readonly kind: 'public' } | { readonly kind: 'people' } | { readonly kind: 'token'; readonly token: string };

type AccessSettings = Pick<ConfigValues, 'services' | 'siteAccess' | 'siteToken' | 'siteTokenFile'>;

/**
 * Combines the options for access to the site, and reads the token file.
 *
 * @throws StartError when they contradict each other, or the file has no valid token. No message contains the token.
 */
export async function loadSiteAccess(settings: AccessSettings): Promise<SiteAccess> {
  const { siteAccess: kind = 'public', services, siteToken, siteTokenFile } = settings;
  if (siteToken !== undefined && siteTokenFile !== undefined) {
    throw new StartupError('TRELLIS_SITE_TOKEN: set either this or TRELLIS_SITE_TOKEN_FILE, not both');
  }
  if (kind === 'token') return { kind, token: siteToken ?? (await readToken(siteTokenFile)) };
  if (siteToken !== undefined || siteTokenFile !== undefined) {
    const { env } = siteToken === undefined ? CONFIG_OPTIONS.siteTokenFile : CONFIG_OPTIONS.siteToken;
    // Otherwise the operator would assume that the token restricts access.
    throw new StartupError(
      `${env}: the token has no effect while TRELLIS_SITE_ACCESS is "${kind}"; set TRELLIS_SITE_ACCESS to token`,
    );
  }
  if (kind === 'people' && services?.every((service) => service === 'site')) {
    throw new StartupError(
      'TRELLIS_SITE_ACCESS: "people" requires accounts; add dashboard or secrets to TRELLIS_SERVICES, or use "token"',
    );
  }
  return { kind };
}

async function readToken(file: string | undefined): Promise<string> {
  if (file === undefined) {
    throw new StartupError('TRELLIS_SITE_ACCESS: "token" requires TRELLIS_SITE_TOKEN or TRELLIS_SITE_TOKEN_FILE');
  }
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new StartupError(`TRELLIS_SITE_TOKEN_FILE: ${file} can't be read: ${code ?? message}`, { cause });
  });
  const token = text.trim();
  if (SITE_TOKEN_PATTERN.test(token)) return token;
  throw new StartupError(`TRELLIS_SITE_TOKEN_FILE: expected ${CONFIG_OPTIONS.siteToken.expected} in ${file}`);
}
