import { isIP } from 'node:net';
import type { Config } from '../../config.js';
import { ok, warn } from './finding.js';
import type { Finding } from './finding.js';

const HTTPS = 'set PUBLIC_URL to the https:// origin that a proxy in front serves';

/** Browsers offer passkeys to https and to localhost alone, and not to bare addresses. */
export function checkAddress({ publicUrl, host, isLoopback }: Config): Finding {
  if (publicUrl === undefined) {
    return isLoopback
      ? ok('address', 'http://localhost, for this machine alone')
      : warn('address', `listens at ${host}, but people can sign in at localhost alone`, HTTPS);
  }
  const { protocol, hostname } = new URL(publicUrl);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    return warn('address', `${publicUrl} is an address, for which there are no passkeys`, 'use a name in PUBLIC_URL');
  }
  const isSafe = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isSafe) return ok('address', publicUrl);
  return warn('address', `${publicUrl} is not https, so nobody can sign in with a passkey`, HTTPS);
}

/** The server itself speaks http: who speaks https stands in front. */
export function checkProxy({ publicUrl, trustProxy }: Config): Finding {
  const isBehind = publicUrl?.startsWith('https:') ?? false;
  if (isBehind && trustProxy === 0) {
    const advice = 'set TRUST_PROXY to their number, or all people count as one address in limits and logs';
    return warn('proxy', 'PUBLIC_URL is https, but no proxies are trusted', advice);
  }
  return ok('proxy', trustProxy === 0 ? 'none is trusted' : `${trustProxy} trusted`);
}

/** Whether the site is readable by more callers than its operator may expect. */
export function checkSiteAccess({ services, siteAccess: { kind }, isLoopback, host }: Config): Finding {
  if (!services.includes('site')) return ok('site access', 'the site does not run');
  if (kind !== 'public' || isLoopback) return ok('site access', kind);
  const advice = 'set TRELLIS_SITE_ACCESS to people or token, unless the site is meant for everyone';
  return warn('site access', `public: anyone who can reach ${host} can read the site`, advice);
}
