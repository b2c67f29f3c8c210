import { importFromTool } from '../../../tools/install.js';

/** The part of Puppeteer that the script uses. Its own types need a newer compiler setting. */
interface FirefoxPage {
  on(event: string, listener: (event: never) => void): void;
  setViewport(size: { readonly width: number; readonly height: number }): Promise<void>;
  goto(url: string, options: { readonly waitUntil: 'load' }): Promise<{ status(): number } | null>;
  waitForFunction(text: string, options: { readonly timeout: number }): Promise<unknown>;
  evaluate<T>(work: () => T): Promise<T>;
  evaluateOnNewDocument(work: () => void): Promise<unknown>;
  close(): Promise<void>;
}

export interface Firefox {
  version(): Promise<string>;
  setCookie(...cookies: readonly object[]): Promise<void>;
  newPage(): Promise<FirefoxPage>;
  close(): Promise<void>;
}

/** Starts a Firefox without a window, operated through WebDriver BiDi. */
export async function openFirefox(executablePath: string): Promise<Firefox> {
  const { default: puppeteer } = (await importFromTool('tools/firefox', 'puppeteer-core')) as {
    readonly default: { launch(options: object): Promise<Firefox> };
  };
  return puppeteer.launch({ browser: 'firefox', executablePath, headless: true });
}
