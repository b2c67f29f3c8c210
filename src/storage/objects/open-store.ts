import type { ObjectStore } from './object-store.js';
import { createS3Client } from './s3-client.js';
import { type AwsEnvironment, createCredentialsLoader, parseS3Url } from './s3-location.js';
import { createS3Store } from './s3-store.js';

/**
 * Opens the store at `s3://bucket/prefix`. Sends no request.
 *
 * @param env The variables with the credentials, the region and the endpoint.
 * @throws ObjectStoreError for an invalid address.
 */
export const openObjectStore = (url: string, env: AwsEnvironment): ObjectStore =>
  createS3Store(createS3Client(parseS3Url(url, env), createCredentialsLoader(env)));
