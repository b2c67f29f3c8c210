/** Where objects are stored: the URL of the setting, and the standard variables of AWS. */
import { ObjectStoreError } from './object-store.js';

export interface S3Location {
  readonly bucket: string;
  /** The prefix of all keys: empty, or a path that ends with `/`. */
  readonly prefix: string;
  readonly region: string;
  /** The URL of the bucket, without a slash at its end. */
  readonly url: string;
  /** The address without parameters: `s3://bucket/prefix`. */
  readonly address: string;
}

/** The environment variables of AWS. */
export type AwsEnvironment = Readonly<Record<string, string | undefined>>;

/** A bucket name by the rules of S3, a prefix, and parameters. User names are not possible, as logs show addresses. */
const S3_URL_PATTERN = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(\/[^?#\s]*)?(?:\?([^#\s]*))?$/;

const PARAMETERS = ['region', 'endpoint', 'style'];

/**
 * Parses `s3://bucket/prefix`. The parameters `region` and `endpoint` take precedence over the variables. A custom
 * endpoint gets the bucket in its path, unless `style=host` requests it in the host name.
 *
 * @throws ObjectStoreError for an invalid URL or endpoint.
 */
export function parseS3Url(text: string, env: AwsEnvironment): S3Location {
  const [, bucket, path = '', query = ''] = S3_URL_PATTERN.exec(text) ?? [];
  if (bucket === undefined)
    throw invalid(
      'expected an address such as s3://bucket/prefix, with a bucket name of 3 to 63 lower-case characters',
    );
  const parameters = new URLSearchParams(query);
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined)
    throw invalid(`unknown parameter "${unknown}"; the parameters are ${PARAMETERS.join(', ')}`);
  const custom = parameters.get('endpoint') ?? env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL;
  const region = parameters.get('region') ?? env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? 'us-east-1';
  // The wildcard certificate of AWS does not cover host names with further dots.
  const style = parameters.get('style') ?? (custom || bucket.includes('.') ? 'path' : 'host');
  if (!['host', 'path'].includes(style)) throw invalid(`expected the style "path" or "host"; received "${style}"`);
  const prefix = decodePath(path).replace(/^\/+|\/+$/g, '');
  return {
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region,
    url: toBucketUrl(custom ?? toAwsEndpoint('s3', region), { bucket, style }),
    address: `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`,
  };
}

/** Returns the address of a service of AWS, whose regions in China have a domain of their own. */
export const toAwsEndpoint = (service: 's3' | 'sts', region: string): string =>
  `https://${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;

function toBucketUrl(endpoint: string, { bucket, style }: { readonly bucket: string; readonly style: string }): string {
  if (!/^https?:\/\/[^\s/?#@]+(?:\/[\w.~-]+)*\/?$/.test(endpoint) || !URL.canParse(endpoint)) {
    throw invalid('expected an endpoint such as https://storage.example.org');
  }
  const { protocol, host, pathname } = new URL(endpoint);
  const path = pathname.replace(/\/$/, '');
  if (style === 'path') return `${protocol}//${host}${path}/${bucket}`;
  if (path !== '') throw invalid('expected the style "path" for an endpoint with a path');
  return `${protocol}//${bucket}.${host}`;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const invalid = (message: string): ObjectStoreError => new ObjectStoreError(message, { isTemporary: false });
