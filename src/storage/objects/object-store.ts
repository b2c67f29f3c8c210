/** Describes a stored object. */
export interface ObjectInfo {
  /** The key below the prefix of the store. */
  readonly key: string;
  readonly bytes: number;
  readonly modifiedAt: Date;
  readonly etag: string;
  /** SHA-256 of the content in hexadecimal, if Trellis stored the object. Lists do not contain it. */
  readonly sha256?: string;
}

/** A part of an object: from `start` to `end`, both included, or to the last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end?: number;
}

export interface StoredObject extends ObjectInfo {
  /**
   * The requested bytes. A lost connection is resumed. The length is verified, and so is the digest of a whole object; a
   * mismatch throws after the last byte.
   */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface PutOptions {
  /**
   * Stores the object only if the key is free. A server that does not support this may overwrite an object which
   * another process stores at the same moment.
   */
  readonly ifAbsent?: boolean;
  readonly signal?: AbortSignal;
}

/** Content to store: bytes, or the path of a file, which is read in parts. */
export type ObjectContent = Uint8Array | { readonly file: string };

/**
 * A bucket and a prefix of its keys. Every method retries requests that fail for a reason which may pass, takes a
 * bounded time, and throws an {@link ObjectStoreError}.
 */
export interface ObjectStore {
  /** The address without credentials: `s3://bucket/prefix`. */
  readonly address: string;
  /** Returns `undefined` for a missing object. */
  head(key: string, signal?: AbortSignal): Promise<ObjectInfo | undefined>;
  /** Returns `undefined` for a missing object. */
  get(
    key: string,
    options?: { readonly range?: ByteRange; readonly signal?: AbortSignal },
  ): Promise<StoredObject | undefined>;
  /** Returns whether the object was stored; `false` only for `ifAbsent` and an existing object. */
  put(key: string, content: ObjectContent, options?: PutOptions): Promise<boolean>;
  /** Returns an object unless its ETag is still `etag`: then `unchanged`. Returns `undefined` for a missing object. */
  getChanged(
    key: string,
    etag: string | undefined,
    signal?: AbortSignal,
  ): Promise<StoredObject | 'unchanged' | undefined>;
  /**
   * Replaces an object that still has the ETag `expected`, or creates one if `expected` is `undefined` and the key is
   * free. A server that does not support conditional writes is asked before, which leaves a short time for another writer.
   *
   * @returns the new ETag; `undefined` if the object is a different one. A repeated request may find its own object.
   */
  replace(
    key: string,
    content: Uint8Array,
    expected: string | undefined,
    signal?: AbortSignal,
  ): Promise<string | undefined>;
  /** Succeeds for a missing object too. */
  delete(key: string): Promise<void>;
  /** Lists the objects whose key starts with the prefix, in the order of their keys. */
  list(prefix: string): AsyncIterable<ObjectInfo>;
  /** Closes the connections. */
  close(): Promise<void>;
}
