declare module 'http_ece' {
  import type { ECDH } from 'node:crypto';

  export function decrypt(body: Buffer, options: { version: string; privateKey: ECDH; authSecret: string }): Buffer;
}
