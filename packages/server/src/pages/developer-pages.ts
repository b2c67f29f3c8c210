import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { createTextSender, escapeAttribute, loadAssets, renderPageTemplate } from './built-pages.js';

/** A page with all its scripts and styles, so that it requests nothing from other origins. */
interface DeveloperPage {
  /** Serves the scripts and styles. */
  readonly assets: RequestHandler;
  readonly page: RequestHandler;
}

/** Returns the path of a file that the page loads, next to the sources or to the built server. */
const own = (name: string) => fileURLToPath(new URL(`./browser/${name}`, import.meta.url));

/**
 * Returns the path of a file of a package: in a build its copy, otherwise the file itself, even if the exports of the
 * package don't list it.
 */
function inPackage(name: string, file: string): string {
  const copy = fileURLToPath(new URL(`./vendor/${name}/${file}`, import.meta.url));
  return existsSync(copy) ? copy : join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), file);
}

/** Returns a style sheet without its fonts, which are most of its bytes: pages use the fonts of the system. */
const withoutFonts = (file: string): Buffer =>
  Buffer.from(readFileSync(file, 'utf8').replaceAll(/@font-face\s*\{[^}]*\}/g, ''));

/** Below the path of the endpoint, so that a proxy that forwards `/graphql` forwards these too. */
const ASSETS_PATH = '/graphql/assets';

/** The parts of these pages that depend on the product. */
export interface ProductPages {
  readonly name: string;
  /** The key of the local storage with the theme that a reader has chosen: `dark` or `light`. */
  readonly themeKey: string;
  /** A label that distinguishes this instance; empty without one. */
  readonly label: string;
  /** The product's pages about the data of the site. */
  readonly sitePages: readonly ProductPage[];
  /** The navigation of the product. */
  readonly pages: readonly (ProductPage & { readonly needs: Audience })[];
  /** The pages of the navigation that the explorer and the reference belong to, by their paths. */
  readonly sections: { readonly explorer: string; readonly reference: string };
  /** The tag that loads the command palette of the product into the header, for signed-in users. */
  readonly paletteScript: string;
  /** Attributes of the body that the palette reads. */
  readonly data: Readonly<Record<string, string>>;
  /** Returns the pages that the sender of a request can open; `undefined` if it is unknown. */
  readonly findAudience: (request: Request) => Promise<Audience | undefined>;
}

interface ProductPage {
  readonly name: string;
  readonly path: string;
}

/** Who can open a page. Admins can also open the pages of users, and users the public ones. */
type Audience = (typeof AUDIENCES)[number];

const AUDIENCES = ['public', 'user', 'admin'] as const;

interface ExplorerOptions {
  readonly product: ProductPages;
  /** Whether the explorer may use introspection. */
  readonly introspection: boolean;
  /** Whether the explorer has to send the site token, which the user enters. */
  readonly needsToken: boolean;
  /** Admits a request for the page, or responds to it. */
  readonly enter: RequestHandler;
}

/** Loads the GraphQL explorer, which is GraphiQL with examples. */
export function loadExplorer({ product, introspection, needsToken, enter }: ExplorerOptions): DeveloperPage {
  const assets = loadAssets(ASSETS_PATH, {
    'icon.svg': own('icon.svg'),
    'explorer.css': own('explorer.css'),
    'explorer-examples.js': own('explorer-examples.js'),
    'explorer.js': own('explorer.js'),
    'tool-header.css': own('tool-header.css'),
    'graphiql.css': withoutFonts(inPackage('graphiql', 'graphiql.min.css')),
    'graphiql.js': inPackage('graphiql', 'graphiql.min.js'),
    'react.js': inPackage('react', 'umd/react.production.min.js'),
    'react-dom.js': inPackage('react-dom', 'umd/react-dom.production.min.js'),
  });
  const links = product.sitePages.map(({ name, path }) => `<a href="${path}">${name}</a>`);
  const page = renderPageTemplate(own('explorer.html'), assets)
    .replace('{{site-pages}}', links.join('\n        '))
    .replace('{{introspection}}', introspection ? 'on' : 'off')
    .replace('{{token}}', needsToken ? 'needed' : '');
  return { assets: assets.handler, page: graphiqlPage(createShellSender(page, product, 'explorer'), enter) };
}

/**
 * As strict as GraphiQL allows. Its dialogs prevent scrolling with a style element whose text depends on the width of
 * the scroll bar, which rules out a hash. Its icons are data URLs.
 */
const policy = helmet.contentSecurityPolicy({
  useDefaults: false,
  directives: {
    'default-src': ["'none'"],
    'script-src': ["'self'"],
    'style-src': ["'self'"],
    'style-src-elem': ["'self'", "'unsafe-inline'"],
    'img-src': ["'self'", 'data:'],
    'connect-src': ["'self'"],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
  },
});

/**
 * Shows GraphiQL to a browser that opens the URL of the endpoint. Other requests continue to the endpoint.
 *
 * @param enter Admits a request for the page, or responds to it.
 */
function graphiqlPage(send: PageSender, enter: RequestHandler): RequestHandler {
  const show: RequestHandler = (request, response, next) => {
    policy(request, response, () => {
      response.set('X-Content-Type-Options', 'nosniff').vary('Accept');
      send(request, response).catch(next);
    });
  };
  return (request, response, next) => {
    if (!wantsPage(request)) {
      next();
      return;
    }
    return enter(request, response, (error?: unknown) => (error ? next(error) : show(request, response, next)));
  };
}

type PageSender = (request: Request, response: Response) => Promise<void>;

/** Creates the function that sends a page in the product's own header, with the links that the sender can open. */
function createShellSender(page: string, product: ProductPages, tool: keyof ProductPages['sections']): PageSender {
  const senders = AUDIENCES.map((audience) => createTextSender(withProduct(page, product, tool, audience), 'html'));
  return async (request, response) => {
    const audience = (await product.findAudience(request)) ?? 'public';
    response.vary('Cookie');
    await senders[AUDIENCES.indexOf(audience)]?.(response);
  };
}

function withProduct(
  page: string,
  { name, label, themeKey, pages, sections, paletteScript, data }: ProductPages,
  tool: keyof ProductPages['sections'],
  audience: Audience,
): string {
  const attributes = Object.entries(data).map(([key, value]) => ` data-${key}="${escapeAttribute(value)}"`);
  const isOpen = ({ needs }: ProductPages['pages'][number]): boolean =>
    AUDIENCES.indexOf(needs) <= AUDIENCES.indexOf(audience);
  const links = pages.filter(isOpen).map((one) => {
    const current = one.path === sections[tool] ? ' aria-current="true"' : '';
    return `<li><a href="${one.path}"${current}>${one.name}</a></li>`;
  });
  return page
    .replaceAll('{{product}}', () => escapeText(name))
    .replace('{{label}}', () => (label === '' ? '' : ` <span class="instance">${escapeText(label)}</span>`))
    .replace('{{pages}}', () => links.join('\n          '))
    .replace('{{theme-key}}', () => escapeAttribute(themeKey))
    .replace('{{palette}}', () => (audience === 'public' ? '' : '<div id="palette"></div>'))
    .replace('</head>', () => (audience === 'public' ? '</head>' : `${paletteScript}</head>`))
    .replace('<body', () => `<body${attributes.join('')}`);
}

const escapeText = (text: string): string => escapeAttribute(text).replaceAll('<', '&lt;');

function wantsPage(request: Request): boolean {
  if (request.method !== 'GET' || request.query.query !== undefined) return false;
  return request.accepts(['application/json', 'application/graphql-response+json', 'text/html']) === 'text/html';
}

/** A contract in the API reference. */
export interface ListedContract {
  /** Identifies the contract in links to the page. */
  readonly id: string;
  readonly name: string;
  /** The URL of the OpenAPI document. */
  readonly url: string;
  /** The published client that is generated from the contract: its factory, and the modules of factory and calls. */
  readonly client?: { readonly create: string; readonly from: string; readonly calls: string };
}

/** Loads the API reference, which shows contracts in Swagger UI. */
export function loadApiReference(contracts: readonly ListedContract[], product: ProductPages): DeveloperPage {
  const assets = loadAssets('/docs/assets', {
    'icon.svg': own('icon.svg'),
    'reference-examples.js': own('reference-examples.js'),
    'reference.css': own('reference.css'),
    'reference.js': own('reference.js'),
    'tool-header.css': own('tool-header.css'),
    'swagger-ui.css': inPackage('swagger-ui-dist', 'swagger-ui.css'),
    'swagger-ui.js': inPackage('swagger-ui-dist', 'swagger-ui-bundle.js'),
  });
  const links = contracts.map(({ name, url }) => `<li><a href="${url}">${name}</a></li>`);
  const page = renderPageTemplate(own('reference.html'), assets)
    .replace('{{contracts}}', () => escapeAttribute(JSON.stringify(contracts)))
    .replace('{{links}}', () => links.join(''));
  return { assets: assets.handler, page: createShellSender(page, product, 'reference') };
}
