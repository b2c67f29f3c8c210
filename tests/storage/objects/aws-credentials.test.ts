import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createCredentialsLoader } from '../../../src/storage/objects/aws-credentials.js';
import { CLOSED_PORT } from '../../closed-port.js';
import { CONTAINER_TOKEN, type FakeRoles, ROLE, startRoles, WEB_TOKEN } from './aws-roles.js';

const HOME = process.env.HOME;
let folder: string;
let roles: FakeRoles;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'trellis-credentials-'));
  // The home folder of the user who runs the tests may have credentials.
  process.env.HOME = folder;
  file = path.join(folder, 'token');
  await writeFile(file, `${WEB_TOKEN}\n`);
  roles = await startRoles();
});
afterEach(async () => {
  process.env.HOME = HOME;
  await roles.close();
  await rm(folder, { recursive: true });
});

const toEnvironments = () => ({
  pod: {
    AWS_WEB_IDENTITY_TOKEN_FILE: file,
    AWS_ROLE_ARN: ROLE,
    AWS_ENDPOINT_URL_STS: `${roles.origin}/sts`,
  },
  container: {
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${roles.origin}/container`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: CONTAINER_TOKEN,
  },
  machine: { AWS_EC2_METADATA_SERVICE_ENDPOINT: `${roles.origin}/` },
});

describe.each(['pod', 'container', 'machine'] as const)('the role of a %s', (place) => {
  const env = () => toEnvironments()[place];

  test('has credentials, which are loaded once', async () => {
    const load = createCredentialsLoader(env());
    const credentials = { accessKeyId: 'ASIA1', secretAccessKey: 'secret/1', sessionToken: 'session&1' };
    await expect(Promise.all([load(), load()])).resolves.toEqual([credentials, credentials]);
    await expect(load()).resolves.toEqual(credentials);
    expect(roles.requests).toHaveLength(place === 'machine' ? 3 : 1);
  });

  test('has other credentials before the old ones expire; until then, an outage does not matter', async () => {
    const start = Date.now();
    let minutes = 0;
    const load = createCredentialsLoader(env(), () => start + minutes * 60_000);
    await expect(load()).resolves.toMatchObject({ accessKeyId: 'ASIA1' });
    minutes = 54;
    await expect(load()).resolves.toMatchObject({ accessKeyId: 'ASIA1' });
    minutes = 56;
    roles.status = 503;
    await expect(load()).resolves.toMatchObject({ accessKeyId: 'ASIA1' });
    const { length } = roles.requests;
    await expect(load()).resolves.toMatchObject({ accessKeyId: 'ASIA1' });
    expect(roles.requests).toHaveLength(length);
    minutes = 61;
    await expect(load()).rejects.toMatchObject({ name: 'ObjectStoreError', isTemporary: true });
    roles.status = undefined;
    roles.lifetimeMs = 7_200_000;
    await expect(load()).resolves.toMatchObject({ sessionToken: expect.stringMatching(/^session&[2-9]$/) as string });
  });

  test('comes after the variables and the file with credentials', async () => {
    const keys = { AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 's' };
    await expect(createCredentialsLoader({ ...env(), ...keys })()).resolves.toMatchObject({ accessKeyId: 'A' });
    const profile = path.join(folder, 'credentials');
    await writeFile(profile, '[default]\naws_access_key_id = B\naws_secret_access_key = s\n');
    const other = { AWS_SHARED_CREDENTIALS_FILE: profile };
    await expect(createCredentialsLoader({ ...env(), ...other })()).resolves.toMatchObject({ accessKeyId: 'B' });
    expect(roles.requests).toEqual([]);
  });

  test('has none if they have expired', async () => {
    roles.lifetimeMs = -1_000;
    await expect(createCredentialsLoader(env())()).rejects.toThrow('The credentials of the role have expired.');
  });
});

test.each([
  ['a rejected token', { AWS_ROLE_ARN: ROLE }, 'other', /rejected the token in .* \(InvalidIdentityToken\)\.$/],
  ['a different role', { AWS_ROLE_ARN: `${ROLE}2` }, WEB_TOKEN, /for the role .*2 \(AccessDenied\)\.$/],
  ['no role', {}, WEB_TOKEN, /^AWS_WEB_IDENTITY_TOKEN_FILE: requires AWS_ROLE_ARN as well\.$/],
])('a pod with %s gets the reason', async (_reason, env, token, message) => {
  await writeFile(file, token);
  const { AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ENDPOINT_URL_STS } = toEnvironments().pod;
  const load = createCredentialsLoader({ AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ENDPOINT_URL_STS, ...env });
  await expect(load()).rejects.toThrow(message);
});

test('an address that is not valid is named', async () => {
  const load = createCredentialsLoader({ ...toEnvironments().pod, AWS_ENDPOINT_URL_STS: 'sts' });
  await expect(load()).rejects.toThrow('"sts" did not respond with credentials.');
});

test('a pod reads the token again for each exchange, as Kubernetes replaces it', async () => {
  await rm(file);
  const load = createCredentialsLoader(toEnvironments().pod);
  await expect(load()).rejects.toMatchObject({ message: `The token file ${file} can't be read.`, isTemporary: true });
  await writeFile(file, WEB_TOKEN);
  await expect(load()).resolves.toMatchObject({ accessKeyId: 'ASIA1' });
});

test('a container may have the token in a file, and sends it to no host elsewhere without encryption', async () => {
  await writeFile(file, CONTAINER_TOKEN);
  const { AWS_CONTAINER_CREDENTIALS_FULL_URI } = toEnvironments().container;
  const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI, AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: file };
  await expect(createCredentialsLoader(env)()).resolves.toMatchObject({ accessKeyId: 'ASIA1' });
  const elsewhere = ['http://credentials.example/', 'http://169.254.169.254/', 'http://127.0.0.1.example/', 'role'];
  for (const address of elsewhere) {
    const load = createCredentialsLoader({ ...env, AWS_CONTAINER_CREDENTIALS_FULL_URI: address });
    await expect(load()).rejects.toThrow('expected an address with https, or of this machine, ECS or EKS.');
  }
});

test('without a role, or the service for it, the message lists what to do', async () => {
  const message = `No credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, provide the file ${folder}/.aws/credentials, or give the machine a role.`;
  roles.hasRole = false;
  const { machine } = toEnvironments();
  await expect(createCredentialsLoader(machine)()).rejects.toMatchObject({ message, isTemporary: false });
  const nobody = { AWS_EC2_METADATA_SERVICE_ENDPOINT: CLOSED_PORT };
  await expect(createCredentialsLoader(nobody)()).rejects.toThrow(message);
  roles.requests.length = 0;
  const off = { ...machine, AWS_EC2_METADATA_DISABLED: 'true' };
  await expect(createCredentialsLoader(off)()).rejects.toThrow(message);
  expect(roles.requests).toEqual([]);
});
