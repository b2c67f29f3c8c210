import type { Page } from 'playwright-core';
import { confirm } from './acts.js';

/** What people do again and again on the pages of secrets. */
export interface VaultActs {
  /** Clicks, and clicks again once the button asks whether that was meant. */
  confirm(name: string, question: string): Promise<void>;
  addConsumer(name: string, publicKey?: string): Promise<void>;
  createSecret(secret: NewSecret): Promise<void>;
  /** Replaces a public key at the service, which the pages have not seen before. */
  replaceConsumerKey(name: string, publicKey: string): Promise<void>;
  /** Comes to the page of a secret, with nothing kept of the page before. */
  visit(slug: string): Promise<void>;
  /** Asks the service as the page could; gives what it answers as text or bytes. */
  fetchText(path: string): Promise<string>;
  fetchBytes(path: string): Promise<Buffer>;
}

interface NewSecret {
  readonly slug: string;
  readonly value: string;
  readonly usedBy?: readonly string[];
  readonly isReadable?: boolean;
}

export function createVaultActs(page: Page, origin: string): VaultActs {
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  return {
    async confirm(name, question) {
      await confirm(button(name), question);
    },
    async addConsumer(name, publicKey = '') {
      await page.goto(`${origin}/vault/consumers`);
      const form = page.locator('form').last();
      await form.getByLabel('Name').fill(name);
      await form.getByLabel('Public key').fill(publicKey);
      await button('Add').click();
      await page.getByText(`“${name}” is a consumer now.`).waitFor();
    },
    async createSecret({ slug, value, usedBy = [], isReadable = false }) {
      await page.goto(`${origin}/vault/new`);
      await page.getByLabel('Name').fill(slug);
      await page.getByLabel('Value', { exact: true }).fill(value);
      for (const name of usedBy) await page.getByLabel(name).check();
      if (isReadable) await page.getByLabel('Seal it to my own key too').check();
      await button('Seal and store').click();
      await page.getByRole('heading', { name: slug, level: 1 }).waitFor();
    },
    async replaceConsumerKey(name, publicKey) {
      const body = JSON.stringify({ public_key: publicKey });
      const path = `/secrets/consumers/${encodeURIComponent(name)}`;
      const status = await page.evaluate(
        async ([url, text]) =>
          (await fetch(url!, { method: 'PATCH', body: text!, headers: { 'content-type': 'application/json' } })).status,
        [path, body],
      );
      if (status !== 200) throw new Error(`The key of ${name} was not replaced: status ${status}.`);
    },
    async visit(slug) {
      await page.goto(`${origin}/vault/objects/${slug}`);
      await button('Open here').waitFor();
    },
    async fetchText(path) {
      return page.evaluate(async (url) => (await fetch(url)).text(), path);
    },
    async fetchBytes(path) {
      const bytes = await page.evaluate(
        async (url) => [...new Uint8Array(await (await fetch(url)).arrayBuffer())],
        path,
      );
      return Buffer.from(bytes);
    },
  };
}
