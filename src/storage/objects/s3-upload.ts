import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { type S3Client, type S3Request, type S3Response, targetOf } from './s3-client.js';
import { ObjectStoreError, readElement, toStoreError } from './store-errors.js';

interface Upload extends Pick<S3Request, 'accept' | 'key' | 'signal'> {
  readonly file: string;
  readonly bytes: number;
  readonly partBytes: number;
  /** The headers of the object. */
  readonly headers: Readonly<Record<string, string>>;
  /** The headers that the request to complete it has. */
  readonly condition: Readonly<Record<string, string>>;
}

/** S3 accepts no more parts of one object. */
const MAX_PARTS = 10_000;

/** Stores a file in parts, one at a time. A failed upload is cancelled, as its parts would cost storage. */
export async function uploadParts(client: S3Client, upload: Upload): Promise<S3Response> {
  const { key, signal, headers } = upload;
  const started = await client.send({ method: 'POST', key, signal, headers, query: { uploads: '' } });
  const uploadId = readElement(await started.body.text(), 'UploadId');
  if (uploadId === undefined) {
    throw new ObjectStoreError(`${new URL(client.location.url).host} started no upload.`, { isTemporary: false });
  }
  try {
    const etags = await sendParts(client, upload, uploadId);
    const response = await complete(client, upload, { uploadId, etags });
    if (response.status >= 300) await cancel(client, { key, uploadId });
    return response;
  } catch (error) {
    await cancel(client, { key, uploadId });
    throw error;
  }
}

async function sendParts(
  client: S3Client,
  { file, bytes, key, partBytes, signal }: Upload,
  uploadId: string,
): Promise<string[]> {
  const size = Math.max(partBytes, Math.ceil(bytes / MAX_PARTS));
  const etags: string[] = [];
  const handle = await open(file);
  try {
    for (let position = 0; position < bytes; position += size) {
      const body = Buffer.alloc(Math.min(size, bytes - position));
      const { bytesRead } = await handle.read(body, 0, body.length, position);
      if (bytesRead !== body.length) throw new ObjectStoreError(`${file} has changed.`, { isTemporary: false });
      const query = { partNumber: String(etags.length + 1), uploadId };
      const headers = { 'content-md5': createHash('md5').update(body).digest('base64') };
      const response = await client.send({ method: 'PUT', key, signal, query, headers, body });
      await response.body.dump();
      etags.push(String(response.headers.etag));
    }
    return etags;
  } finally {
    await handle.close();
  }
}

interface StartedUpload {
  readonly uploadId: string;
  readonly etags: readonly string[];
}

async function complete(
  client: S3Client,
  { key, signal, condition, accept }: Upload,
  { uploadId, etags }: StartedUpload,
): Promise<S3Response> {
  const parts = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
  const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
  const headers = { ...condition, 'content-type': 'application/xml' };
  const response = await client.send({
    method: 'POST',
    key,
    signal,
    query: { uploadId },
    headers,
    body,
    accept: accept ?? [],
  });
  if (response.status >= 300) return response;
  // The status was sent before the parts were joined, so an error is in the document.
  const text = await response.body.text();
  if (!text.includes('<Error>')) return response;
  throw toStoreError(targetOf(client.location, { method: 'POST', key }), { ...response, status: 500, body: text });
}

/** Deletes the parts. A failure is ignored, as the reason of the failed upload matters more. */
async function cancel(client: S3Client, { key, uploadId }: { readonly key: string; readonly uploadId: string }) {
  await client.send({ method: 'DELETE', key, query: { uploadId } }).then(
    ({ body }) => body.dump(),
    () => undefined,
  );
}
