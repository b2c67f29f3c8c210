import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RequestHandler } from 'express';
import { createTextSender, loadAssets, renderPageTemplate } from './static-assets.js';

/** The API reference, which shows the contracts in Swagger UI and requests nothing from other origins. */
export interface ApiReference {
  /** Serves the scripts and styles. */
  readonly assets: RequestHandler;
  readonly page: RequestHandler;
}

const web = (name: string) => fileURLToPath(new URL(`../web/${name}`, import.meta.url));

const inSwagger = (file: string) =>
  join(dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')), file);

/** @param options.services The running services. Contracts of other services are not listed. */
export function loadApiReference({ services }: { readonly services: readonly string[] }): ApiReference {
  const assets = loadAssets('/docs/assets', {
    'icon.svg': web('icon.svg'),
    'reference.css': web('reference.css'),
    'reference.js': web('reference.js'),
    'tool-header.css': web('tool-header.css'),
    'swagger-ui.css': inSwagger('swagger-ui.css'),
    'swagger-ui.js': inSwagger('swagger-ui-bundle.js'),
  });
  const page = renderPageTemplate(web('reference.html'), assets).replace('{{services}}', services.join(' '));
  const send = createTextSender(page, 'html');
  return {
    assets: assets.handler,
    page: (_request, response) => send(response),
  };
}
