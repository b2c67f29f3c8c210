/** The credentials of requests to S3, from the places where the programs of AWS look for them. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ObjectStoreError, readDocumentText, readElement, TEMPORARY_STATUSES } from './object-store.js';
import { type AwsEnvironment, toAwsEndpoint } from './s3-location.js';

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Credentials with the time, in milliseconds, until which they are used. */
interface DatedCredentials {
  readonly value: S3Credentials;
  readonly expiresAt: number;
}

type Source = (now: number) => Promise<DatedCredentials>;

/** Credentials of a role are replaced before they expire, as the request with them takes some time. */
const MARGIN_MS = 300_000;

/** How long credentials that could not be replaced are used before the next attempt. */
const RETRY_MS = 10_000;

/**
 * Returns a function that loads the credentials from the first of these places:
 *
 * 1. `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`.
 * 2. The profile `AWS_PROFILE` of the file `AWS_SHARED_CREDENTIALS_FILE`, which is read again every minute.
 * 3. The role `AWS_ROLE_ARN`, with the token in the file `AWS_WEB_IDENTITY_TOKEN_FILE`, as in Kubernetes.
 * 4. The address in `AWS_CONTAINER_CREDENTIALS_FULL_URI` or `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`, as in ECS and EKS.
 * 5. The role of the machine in EC2, unless `AWS_EC2_METADATA_DISABLED` is `true`.
 *
 * The function throws an `ObjectStoreError` if that place has no credentials.
 */
export function createCredentialsLoader(env: AwsEnvironment, now = Date.now): () => Promise<S3Credentials> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (accessKeyId && secretAccessKey) {
    const fixed = toCredentials({ accessKeyId, secretAccessKey, sessionToken: env.AWS_SESSION_TOKEN });
    return async () => fixed;
  }
  let cached: (DatedCredentials & { readonly freshUntil: number }) | undefined;
  let loading: Promise<S3Credentials> | undefined;
  const load = async (): Promise<S3Credentials> => {
    const at = now();
    try {
      const found = await selectSource(env)(at);
      const rest = found.expiresAt - at;
      if (rest <= 0) throw failed('The credentials of the role have expired.', { isTemporary: true });
      cached = { ...found, freshUntil: at + Math.max(rest - MARGIN_MS, rest / 2) };
    } catch (error) {
      if (cached === undefined || cached.expiresAt <= at) throw error;
      cached = { ...cached, freshUntil: at + RETRY_MS };
    }
    return cached.value;
  };
  return async () => {
    if (cached !== undefined && cached.freshUntil > now()) return cached.value;
    loading ??= load().finally(() => (loading = undefined));
    return loading;
  };
}

function selectSource(env: AwsEnvironment): Source {
  const file = env.AWS_SHARED_CREDENTIALS_FILE ?? defaultCredentialsFile();
  const isNamed = env.AWS_SHARED_CREDENTIALS_FILE !== undefined || env.AWS_PROFILE !== undefined;
  if (isNamed || existsSync(file)) return (now) => readProfile(file, env.AWS_PROFILE ?? 'default', now);
  if (env.AWS_WEB_IDENTITY_TOKEN_FILE !== undefined)
    return () => assumeRole(env, env.AWS_WEB_IDENTITY_TOKEN_FILE ?? '');
  const relative = env.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI;
  const address = relative === undefined ? env.AWS_CONTAINER_CREDENTIALS_FULL_URI : `${CONTAINER_HOST}${relative}`;
  if (address !== undefined) return () => readContainerRole(env, address);
  return () => readMachineRole(env, file);
}

/** A user of a container may have no home folder. */
function defaultCredentialsFile(): string {
  try {
    return join(homedir(), '.aws', 'credentials');
  } catch {
    return '.aws/credentials';
  }
}

/** How long the content of the credentials file is used. Programs replace the file before its token expires. */
const FILE_MS = 60_000;

async function readProfile(file: string, profile: string, now: number): Promise<DatedCredentials> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw failed(`${NO_CREDENTIALS}, or provide the file ${file}.`, { cause });
  });
  const {
    aws_access_key_id: accessKeyId,
    aws_secret_access_key: secretAccessKey,
    aws_session_token: sessionToken,
  } = parseIni(text).get(profile) ?? {};
  if (!accessKeyId || !secretAccessKey) throw failed(`${file} has no access key for the profile "${profile}".`);
  // Twice the time, as credentials are replaced when half of it has passed.
  return { value: toCredentials({ accessKeyId, secretAccessKey, sessionToken }), expiresAt: now + 2 * FILE_MS };
}

const NO_CREDENTIALS = 'No credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';

/**
 * Exchanges the token of a file for the credentials of a role.
 *
 * @see https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html
 */
async function assumeRole(env: AwsEnvironment, file: string): Promise<DatedCredentials> {
  const { AWS_ROLE_ARN: role = '', AWS_ROLE_SESSION_NAME: session = 'trellis' } = env;
  if (role === '') throw failed('AWS_WEB_IDENTITY_TOKEN_FILE: requires AWS_ROLE_ARN as well.');
  const region = env.AWS_REGION ?? env.AWS_DEFAULT_REGION ?? 'us-east-1';
  const body = new URLSearchParams({
    ...{ Action: 'AssumeRoleWithWebIdentity', Version: '2011-06-15', RoleArn: role, RoleSessionName: session },
    WebIdentityToken: await readToken(file),
  });
  const url = env.AWS_ENDPOINT_URL_STS ?? env.AWS_ENDPOINT_URL ?? toAwsEndpoint('sts', region);
  const { status, text } = await send(url, { method: 'POST', body, signal: AbortSignal.timeout(STS_MS) });
  if (status !== 200) {
    const code = readElement(text, 'Code') ?? `status ${status}`;
    throw failed(`${new URL(url).host} rejected the token in ${file} for the role ${role} (${code}).`, {
      isTemporary: TEMPORARY_STATUSES.has(status),
    });
  }
  return readCredentials(url, (name) => readElement(text, name === 'Token' ? 'SessionToken' : name));
}

/** AWS responds from another continent within a second. */
const STS_MS = 10_000;

/** The address of the credentials of a task in ECS. */
const CONTAINER_HOST = 'http://169.254.170.2';

/** The hosts to which a token may be sent without encryption: this machine, ECS, and EKS with IPv4 and IPv6. */
const LOCAL_HOSTS = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/;

/** Reads the credentials of a container. @see https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html */
async function readContainerRole(env: AwsEnvironment, address: string): Promise<DatedCredentials> {
  const { protocol, hostname } = URL.canParse(address) ? new URL(address) : { protocol: '', hostname: '' };
  if (protocol !== 'https:' && !(protocol === 'http:' && LOCAL_HOSTS.test(hostname))) {
    throw failed('AWS_CONTAINER_CREDENTIALS_FULL_URI: expected an address with https, or of this machine, ECS or EKS.');
  }
  const { AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file, AWS_CONTAINER_AUTHORIZATION_TOKEN: fixed } = env;
  const token = file === undefined ? fixed : await readToken(file);
  return getCredentials(address, token === undefined ? {} : { Authorization: token });
}

/** Reads the credentials of the machine's role. @see https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-data-retrieval.html */
async function readMachineRole(env: AwsEnvironment, file: string): Promise<DatedCredentials> {
  const advice = `${NO_CREDENTIALS}, provide the file ${file}, or give the machine a role.`;
  if (env.AWS_EC2_METADATA_DISABLED?.toLowerCase() === 'true') throw failed(advice);
  const host = env.AWS_EC2_METADATA_SERVICE_ENDPOINT?.replace(/\/$/, '') ?? 'http://169.254.169.254';
  const token = await send(`${host}/latest/api/token`, {
    method: 'PUT',
    headers: { 'X-aws-ec2-metadata-token-ttl-seconds': '60' },
  }).catch((cause: unknown) => {
    throw failed(advice, { cause });
  });
  const headers = { 'X-aws-ec2-metadata-token': token.text };
  const roles = `${host}/latest/meta-data/iam/security-credentials/`;
  const { status, text: role } = await send(roles, { headers });
  if (token.status !== 200 || status !== 200 || role.trim() === '') {
    throw failed(advice, { isTemporary: [token.status, status].some((each) => TEMPORARY_STATUSES.has(each)) });
  }
  return getCredentials(`${roles}${role.trim()}`, headers);
}

async function getCredentials(url: string, headers: Readonly<Record<string, string>>): Promise<DatedCredentials> {
  const { status, text } = await send(url, { headers });
  const { host } = new URL(url);
  if (status !== 200)
    throw failed(`${host} responded with ${status} instead of credentials.`, {
      isTemporary: TEMPORARY_STATUSES.has(status),
    });
  const fields = parseObject(text);
  return readCredentials(url, (name) => fields[name]);
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** @param read Returns the value with a name in the documents of AWS. */
function readCredentials(url: string, read: (name: string) => unknown): DatedCredentials {
  const names = ['AccessKeyId', 'SecretAccessKey', 'Token', 'Expiration'];
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = names.map(read);
  const expiresAt = Date.parse(String(expiration));
  const isWhole = [accessKeyId, secretAccessKey, sessionToken].every((value) => typeof value === 'string');
  if (!isWhole || Number.isNaN(expiresAt)) throw failed(`${new URL(url).host} has returned no credentials.`);
  return { value: { accessKeyId, secretAccessKey, sessionToken } as S3Credentials, expiresAt };
}

/** The services of this machine respond at once, or not at all. */
const LOCAL_MS = 1_000;

/** @throws ObjectStoreError if there is no whole response in time. */
async function send(url: string, options: RequestInit): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LOCAL_MS), redirect: 'error', ...options });
    return { status: response.status, text: response.body === null ? '' : await readDocumentText(response.body) };
  } catch (cause) {
    const name = URL.canParse(url) ? new URL(url).host : `"${url}"`;
    throw failed(`${name} did not respond with credentials.`, { cause, isTemporary: URL.canParse(url) });
  }
}

const readToken = async (file: string): Promise<string> =>
  (
    await readFile(file, 'utf8').catch((cause: unknown) => {
      throw failed(`The token file ${file} can't be read.`, { cause, isTemporary: true });
    })
  ).trim();

const failed = (message: string, { isTemporary = false, ...options }: ErrorOptions & { isTemporary?: boolean } = {}) =>
  new ObjectStoreError(message, { isTemporary, ...options });

const toCredentials = ({ sessionToken, ...keys }: { [Key in keyof S3Credentials]: string | undefined }) =>
  ({ ...keys, ...(sessionToken && { sessionToken }) }) as S3Credentials;

/** Parses the sections of an INI file. */
function parseIni(text: string): Map<string, Readonly<Record<string, string>>> {
  const sections = new Map<string, Record<string, string>>();
  let values: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const name = /^\s*\[([^\]]+)\]/.exec(line)?.[1]?.trim();
    const [, key, value] = /^\s*([^#;\s=]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) sections.set(name, (values = {}));
    else if (key !== undefined && value !== undefined) values[key.toLowerCase()] = value;
  }
  return sections;
}
