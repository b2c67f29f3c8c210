import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import express, { type RequestHandler, type Response } from 'express';
import mime from 'mime';
import { IMMUTABLE } from '../http/headers.js';
import { Payload, sendPayload } from '../http/payload.js';
import { nameRequest } from '../http/request.js';

/** Scripts and styles of pages, in memory. */
interface Assets {
  /** Returns the URL of an asset, which contains a digest of its content. Throws for an unknown name. */
  urlOf(name: string): string;
  readonly handler: RequestHandler;
}

export interface StaticAsset {
  /** The URL path of the asset. */
  readonly url: string;
  readonly bytes: Buffer;
}

/**
 * Reads files into memory, to serve them below `base`.
 *
 * @param files File paths, or contents, by the name that pages refer to.
 */
export function loadAssets(base: string, files: Readonly<Record<string, Buffer | string>>): Assets {
  const byName = new Map(Object.entries(files).map(([name, file]) => [name, loadAsset(base, name, file)]));
  return {
    handler: serveAssets([...byName.values()]),
    urlOf(name) {
      const asset = byName.get(name);
      if (!asset) throw new Error(`Unknown asset "${name}".`);
      return asset.url;
    },
  };
}

function loadAsset(base: string, name: string, file: Buffer | string): StaticAsset {
  const bytes = typeof file === 'string' ? readFileSync(file) : file;
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const extension = extname(name);
  return { url: `${base}/${name.slice(0, -extension.length)}-${digest}${extension}`, bytes };
}

/** The types worth compressing. Images other than SVG, fonts and archives are compressed already. */
const IS_TEXT = /^text\/|^image\/svg|javascript|json|xml/;

/** Serves files whose URL changes with their content. Each is compressed once, when it is first requested. */
export function serveAssets(assets: readonly StaticAsset[]): RequestHandler {
  const router = express.Router();
  for (const { url, bytes } of assets) {
    const type = mime.getType(url) ?? 'application/octet-stream';
    const payload = new Payload(bytes, 'static');
    const route = url.replace(/[^/]+$/, '{asset}');
    router.get(url, async (_request, response) => {
      const isText = IS_TEXT.test(type);
      nameRequest(response, { operation: 'asset', route });
      response.set({ 'Content-Type': isText ? `${type}; charset=utf-8` : type, 'Cache-Control': IMMUTABLE });
      await sendPayload(response, payload, { isCompressible: isText, isConditional: true });
    });
  }
  return router;
}

/** Creates the function that sends a text which never changes while the process runs, such as a page or a contract. */
export function createTextSender(text: string, type: 'html' | 'json'): (response: Response) => Promise<void> {
  const payload = new Payload(text, 'static');
  return (response) => {
    response.set('Cache-Control', 'no-cache').type(type);
    return sendPayload(response, payload, { isCompressible: true, isConditional: true });
  };
}

/** Reads a page and replaces each `{{name.extension}}` by the URL of the asset. */
export const renderPageTemplate = (file: string, assets: Assets): string =>
  readFileSync(file, 'utf8').replace(/\{\{([\w-]+\.\w+)\}\}/g, (_, name: string) => assets.urlOf(name));

/** Escapes text for an attribute in double quotes. */
export const escapeAttribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
