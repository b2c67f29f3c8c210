import { isIP } from 'node:net';
import type { Config } from '../../config/config.js';
import { passed, warning } from './check-result.js';
import type { CheckResult } from './check-result.js';

const HTTPS = 'set PUBLIC_URL to the https:// origin of your reverse proxy';

/** Browsers allow passkeys for https and localhost only, and not for IP addresses. */
export function checkAddress({ publicUrl, host, isLoopback }: Config): CheckResult {
  if (publicUrl === undefined) {
    return isLoopback
      ? passed('address', 'http://localhost, for this machine only')
      : warning('address', `listens at ${host}, but users can sign in at localhost only`, HTTPS);
  }
  const { protocol, hostname } = new URL(publicUrl);
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    return warning(
      'address',
      `${publicUrl} is an IP address: passkeys need a host name`,
      'use a host name in PUBLIC_URL',
    );
  }
  const isSafe = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
  if (isSafe) return passed('address', publicUrl);
  return warning('address', `${publicUrl} is not https: passkey sign-in won't work`, HTTPS);
}

/** The server speaks http, so an https origin implies a proxy. */
export function checkProxy({ publicUrl, trustProxy }: Config): CheckResult {
  const isBehind = publicUrl?.startsWith('https:') ?? false;
  if (isBehind && trustProxy === 0) {
    const advice =
      'set TRUST_PROXY to the number of proxies, or all users count as one address in rate limits and logs';
    return warning('proxy', 'PUBLIC_URL is https, but no proxies are trusted', advice);
  }
  return passed('proxy', trustProxy === 0 ? 'none trusted' : `${trustProxy} trusted`);
}

/** Warns when the site is readable by more callers than its operator may expect. */
export function checkSiteAccess({ services, siteAccess: { kind }, isLoopback, host }: Config): CheckResult {
  if (!services.includes('site')) return passed('site access', 'the site service is off');
  if (kind !== 'public' || isLoopback) return passed('site access', kind);
  const advice = 'set TRELLIS_SITE_ACCESS to people or token, unless the site is meant to be public';
  return warning('site access', `public: anyone who can reach ${host} can read the site`, advice);
}
