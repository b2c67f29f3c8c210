import type { Page } from 'playwright-core';
import { pressAndConfirm } from '../support/page-actions.js';

/** Common user actions on the secrets pages. */
export interface SecretsPageActions {
  /** Clicks a button, then clicks it again to confirm. `question` is its text while it waits for the confirmation. */
  confirm(name: string, question: string): Promise<void>;
  addConsumer(name: string, publicKey?: string): Promise<void>;
  createSecret(secret: NewSecret): Promise<void>;
  /** Replaces a public key through the API, so that the pages haven't seen the new key before. */
  replaceConsumerKey(name: string, publicKey: string): Promise<void>;
  /** Reloads the page of a secret, which discards the unlocked identity. */
  visit(slug: string): Promise<void>;
  /** Sends a GET request with the session of the page, and returns the body as text. */
  fetchText(path: string): Promise<string>;
  /** Like `fetchText`, but returns bytes. */
  fetchBytes(path: string): Promise<Buffer>;
}

interface NewSecret {
  readonly slug: string;
  readonly value: string;
  readonly usedBy?: readonly string[];
  readonly isReadable?: boolean;
}

export function createSecretsPageActions(page: Page, origin: string): SecretsPageActions {
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  return {
    async confirm(name, question) {
      await pressAndConfirm(button(name), question);
    },
    async addConsumer(name, publicKey = '') {
      await page.goto(`${origin}/vault/consumers`);
      const form = page.locator('form').last();
      await form.getByLabel('Name').fill(name);
      await form.getByLabel('Public key').fill(publicKey);
      await button('Add').click();
      await page.getByText(`Consumer “${name}” added.`).waitFor();
    },
    async createSecret({ slug, value, usedBy = [], isReadable = false }) {
      await page.goto(`${origin}/vault/new`);
      await page.getByLabel('Name').fill(slug);
      await page.getByLabel('Value', { exact: true }).fill(value);
      for (const name of usedBy) await page.getByLabel(name).check();
      if (isReadable) await page.getByLabel('Encrypt it to my own key too').check();
      await button('Save secret').click();
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
      await button('Show value').waitFor();
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
