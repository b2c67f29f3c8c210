import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { AppError } from '@trellis/core/errors';
import express, { type Request, type RequestHandler, type Response } from 'express';
import mime from 'mime';
import { Payload, sendPayload } from '../http/payload.js';
import { nameRequest } from '../http/request.js';
import { IMMUTABLE, REVALIDATE } from '../http/responses.js';
import type { Caller, CredentialSource } from '../http/security.js';

/** Handlers that serve the pages that the bundler has built. */
export interface BuiltPages {
  /** Serves scripts and styles, whose names contain a digest of their content. */
  readonly assets: RequestHandler;
  /** Serves the document that all pages share, with preload tags for the files of the requested page. */
  readonly document: RequestHandler;
  /** The tag that loads the script for pages that the bundler has not built; empty without built pages. */
  readonly toolScript: string;
  /** Serves the document with the status 404 to browsers; other clients continue to the next handler. */
  readonly notFound: RequestHandler;
}

interface BuiltPagesOptions {
  /** Where the output of the bundler may be. The first of these folders that has a document is used. */
  readonly folders: readonly URL[];
  /** The modules of pages by the path of the page. Their files are preloaded. */
  readonly modules: Readonly<Record<string, string>>;
  /** Values for the placeholders of the document, such as `{{label}}`. */
  readonly values: Readonly<Record<string, string>>;
  /** The files of service workers, which are served at the root, as their scope is their folder. */
  readonly workers?: readonly string[];
  /** Returns the public origin. Called for each request, because it may depend on the port. */
  readonly origin: () => string;
  /** Returns the data embedded in the document; `undefined` if the page has to request the data itself. */
  readonly findPageData: (request: PageRequest) => Promise<object | undefined>;
}

/** Reads the pages once. If they have not been built, requests for them fail with `not_found`. */
export function loadBuiltPages(options: BuiltPagesOptions): BuiltPages {
  const { folders, modules, values, workers = [], origin, findPageData } = options;
  const folder = folders.map((url) => fileURLToPath(url)).find((path) => existsSync(`${path}index.html`));
  if (folder === undefined) {
    return { assets: pass, document: throwNotBuilt, notFound: pass, toolScript: '' };
  }
  const page = Object.entries(values).reduce(
    // A replacement string would be searched for patterns such as `$&`.
    (text, [name, value]) => text.replaceAll(`{{${name}}}`, () => escapeAttribute(value)),
    readFileSync(`${folder}index.html`, 'utf8'),
  );
  const manifest = JSON.parse(readFileSync(`${folder}manifest.json`, 'utf8')) as Manifest;
  const tags = readPreloadTags(manifest, modules);
  async function document(request: Request, response: Response): Promise<void> {
    const facts = await findPageData(request);
    const text = page
      .replaceAll('{{origin}}', origin())
      .replaceAll('{{facts}}', () => (facts === undefined ? '' : escapeAttribute(JSON.stringify(facts))))
      .replace('</head>', `${tags.get(request.path) ?? ''}</head>`);
    response.set('Cache-Control', REVALIDATE).type('html');
    // Compression is safe: the document contains only names and settings of the user, no secret.
    await sendPayload(response, new Payload(text), { isCompressible: true, isConditional: false });
  }
  return {
    assets: express.Router().use(serveAssets(readAssets(`${folder}assets/`)), serveWorkers(folder, workers)),
    document,
    toolScript: toToolScript(folder),
    notFound: (request, response, next) =>
      request.accepts(['json', 'html']) === 'html' ? document(request, response.status(404)) : next(),
  };
}

const pass: RequestHandler = (_request, _response, next) => next();

/** Returns the preload tags of each page by its path. */
function readPreloadTags(manifest: Manifest, modules: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(modules).map(([path, module]) => [path, listPreloadTags(manifest, module, BASE)]));
}

/** The base URL of the files. */
const BASE = '/pages/';

/** The manifest of the script for pages of tools, which is a build of its own. */
const TOOL_MANIFEST = 'tools.json';

function toToolScript(folder: string): string {
  if (!existsSync(folder + TOOL_MANIFEST)) return '';
  const entries = Object.values(JSON.parse(readFileSync(folder + TOOL_MANIFEST, 'utf8')) as Manifest);
  return entries
    .filter(({ isEntry }) => isEntry)
    .map(({ file }) => `<script type="module" src="${BASE}${file}"></script>`)
    .join('');
}

function throwNotBuilt(): never {
  throw new AppError('not_found', 'The pages have not been built. Run "npm run build".');
}

const readAssets = (folder: string): StaticAsset[] =>
  readdirSync(folder).map((name) => ({ url: `/pages/assets/${name}`, bytes: readFileSync(folder + name) }));

/** Serves scripts whose names have no digest. Browsers look for a new version at every visit. */
function serveWorkers(folder: string, names: readonly string[]): RequestHandler {
  const router = express.Router();
  for (const name of names) {
    const payload = new Payload(readFileSync(folder + name), 'static');
    router.get(`/${name}`, async (_request, response) => {
      nameRequest(response, { operation: 'asset', route: `/${name}` });
      response.set('Cache-Control', 'no-cache').type('js');
      await sendPayload(response, payload, { isCompressible: true, isConditional: true });
    });
  }
  return router;
}

/** A request for a page. */
interface PageRequest extends CredentialSource {
  readonly path: string;
}

interface PageDataOptions<User extends Caller, Data> {
  readonly authenticate: (source: CredentialSource) => Promise<User | undefined>;
  /** Reads the data of the page at a path. The caller is `undefined` without a session. */
  readonly read: (caller: User | undefined, path: string) => Promise<Data>;
}

/** After this time the page is sent without data, so that it can report that the database does not respond. */
const TIMEOUT_MS = 1_000;

/**
 * Creates the function that reads the data embedded in a page. Only the session identifies the viewer. The function
 * returns `undefined` if the data is unavailable, such as during an outage of the database. The page then requests the
 * data itself and shows the error.
 */
export function createPageDataReader<User extends Caller, Data>({
  authenticate,
  read,
}: PageDataOptions<User, Data>): (request: PageRequest) => Promise<Data | undefined> {
  const find = async ({ method, path, headers: { cookie } }: PageRequest): Promise<Data> => {
    const caller = await authenticate({ method, headers: { cookie } }).catch(toSignedOut);
    return read(caller, path);
  };
  return (request) =>
    Promise.race([find(request).catch(() => undefined), pause(TIMEOUT_MS, undefined, { ref: false })]);
}

/** Treats an invalid session like none. */
function toSignedOut(error: unknown): undefined {
  if (!(error instanceof AppError && error.code === 'unauthenticated')) throw error;
}

/** The manifest entry of a page module, or of a file that pages share. */
interface Chunk {
  readonly file: string;
  readonly imports?: readonly string[];
  readonly css?: readonly string[];
  readonly isEntry?: boolean;
}

/** The bundler's `manifest.json`. */
type Manifest = Readonly<Record<string, Chunk>>;

/** The entry that every page loads. */
const ENTRY = 'index.html';

/**
 * Returns the tags that preload the files of a page, except those that every page loads. Without them, scripts would
 * request their imports one after the other.
 *
 * @param base The base URL of the files, such as `/pages/`.
 */
export function listPreloadTags(manifest: Manifest, module: string, base: string): string {
  const common = collect(manifest, ENTRY, new Set());
  const chunks = [...collect(manifest, module, common)].slice(common.size).map((name) => manifest[name]);
  const styles = new Set(chunks.flatMap((chunk) => chunk?.css ?? []));
  const scripts = chunks.map((chunk) => chunk?.file ?? '');
  return [
    ...scripts.map((file) => `<link rel="modulepreload" crossorigin href="${base}${file}">`),
    ...[...styles].map((file) => `<link rel="stylesheet" crossorigin href="${base}${file}">`),
  ].join('');
}

/** Returns the known modules, followed by a module with its transitive imports. */
function collect(manifest: Manifest, module: string, known: ReadonlySet<string>): ReadonlySet<string> {
  if (known.has(module) || manifest[module] === undefined) return known;
  let all: ReadonlySet<string> = new Set([...known, module]);
  for (const name of manifest[module].imports ?? []) all = collect(manifest, name, all);
  return all;
}

/** Scripts and styles of pages, in memory. */
interface Assets {
  /** Returns the URL of an asset, which contains a digest of its content. Throws for an unknown name. */
  urlOf(name: string): string;
  readonly handler: RequestHandler;
}

interface StaticAsset {
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
function serveAssets(assets: readonly StaticAsset[]): RequestHandler {
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
export function createTextSender(
  text: string,
  type: 'html' | 'json',
  cacheControl = 'no-cache',
): (response: Response) => Promise<void> {
  const payload = new Payload(text, 'static');
  return (response) => {
    response.set('Cache-Control', cacheControl).type(type);
    return sendPayload(response, payload, { isCompressible: true, isConditional: true });
  };
}

/** Reads a page and replaces each `{{name.extension}}` by the URL of the asset. */
export const renderPageTemplate = (file: string, assets: Assets): string =>
  readFileSync(file, 'utf8').replace(/\{\{([\w-]+\.\w+)\}\}/g, (_, name: string) => assets.urlOf(name));

/** Escapes text for an attribute in double quotes. */
export const escapeAttribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
