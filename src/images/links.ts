import { createHmac, timingSafeEqual } from 'node:crypto';
import { findOutputFormat } from './formats.js';
import { decodeSegment } from './original.js';
import { formatTransformText, parseTransformText } from './transform-text.js';
import type { ImageTransform } from './transform.js';

/** A derived image: the digest of its source file, and its transform. */
export interface DerivedImage {
  readonly contentDigest: string;
  readonly transform: ImageTransform;
}

interface ImageName {
  /** The source's file name without its extension. It makes links readable and is not signed. */
  readonly name: string;
  /** The extension of the derived image, without a dot. */
  readonly extension: string;
}

/**
 * Image links, which carry their transform and its signature. No table is needed to serve a link, and only links that
 * this site issued are accepted.
 */
export interface Links {
  /**
   * Returns the path below `/static`: `/<content digest>/<signature>_<transform>/<percent-encoded name>.<extension>`.
   */
  format(image: DerivedImage & ImageName): string;
  /** The inverse of `format`; returns `undefined` for any path that was not issued with this key. */
  parse(path: string): (DerivedImage & ImageName) | undefined;
}

/** 96 bits in base64url, as each guess costs an attacker an HTTP request. */
const SIGNATURE_LENGTH = 16;

const LINK = new RegExp(`^/([0-9a-f]{32})/([\\w-]{${SIGNATURE_LENGTH}})_([\\w.-]{1,200})/([^/?]+)\\.([a-z]+)$`, 'u');

/** @param key At least 32 random bytes. Links that were issued with a different key are invalid. */
export function createLinks(key: Uint8Array): Links {
  const sign = (text: string): string =>
    createHmac('sha256', key).update(text).digest('base64url').slice(0, SIGNATURE_LENGTH);

  return {
    format({ contentDigest, transform, name, extension }) {
      const text = formatTransformText(transform);
      const signature = sign(`${contentDigest}/${transform.format}/${text}`);
      return `/${contentDigest}/${signature}_${text}/${encodeURIComponent(name)}.${extension}`;
    },
    parse(path) {
      const [, contentDigest = '', signature = '', text = '', encodedName = '', extension = ''] = LINK.exec(path) ?? [];
      const format = findOutputFormat(extension);
      const name = decodeSegment(encodedName);
      if (format === undefined || !name) return undefined;
      const expected = sign(`${contentDigest}/${format}/${text}`);
      if (!timingSafeEqual(Buffer.from(signature), Buffer.from(expected))) return undefined;
      return { contentDigest, transform: parseTransformText(text, format), name, extension };
    },
  };
}
