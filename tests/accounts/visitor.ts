import { Passkey } from '../contract/passkey.js';

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A simulated browser on a page of Trellis, with a cookie, an origin and a passkey. */
export class Visitor {
  readonly passkey: Passkey;
  cookie = '';
  /** Ends before the bodies of requests are sent, after their headers. */
  beforeBody: (() => Promise<void>) | undefined;
  readonly #url: string;
  readonly #origin: string;
  /** The bodies of all responses to all visitors. */
  readonly #heard: string[];

  constructor({ url, origin, heard = [] }: { url: string; origin: string; heard?: string[] }) {
    this.#url = url;
    this.#origin = origin;
    this.#heard = heard;
    this.passkey = new Passkey(origin);
  }

  /** Sends a request as the page would; `headers` override the page's own. */
  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const own = {
      ...(this.cookie === '' ? {} : { cookie: this.cookie }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      origin: this.#origin,
    };
    const sent = body === undefined ? {} : this.#toBody(JSON.stringify(body));
    const response = await fetch(this.#url + path, { method, headers: { ...own, ...headers }, ...sent });
    const text = await response.text();
    this.#heard.push(text);
    const [setCookie] = response.headers.getSetCookie();
    if (setCookie !== undefined) this.cookie = setCookie.split(';')[0]!.replace(/^\w+=$/, '');
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  }

  #toBody(text: string): RequestInit & { readonly duplex?: 'half' } {
    const { beforeBody } = this;
    if (beforeBody === undefined) return { body: text };
    const stream = new ReadableStream({
      async start(controller) {
        // The client sends the headers with the first part.
        controller.enqueue(new TextEncoder().encode(' '));
        await beforeBody();
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      },
    });
    return { body: stream, duplex: 'half' };
  }

  /** Starts a registration; the test itself sends the response of the passkey. */
  beginToRegister(username: string, inviteToken: string): Promise<Reply> {
    return this.send('POST', '/api/auth/register/begin', { username, displayName: username, inviteToken });
  }

  finishToRegister(username: string, credential: unknown): Promise<Reply> {
    return this.send('POST', `/api/auth/register/finish?username=${username}`, credential);
  }

  async register(username: string, inviteToken: string): Promise<Reply> {
    const begun = await this.beginToRegister(username, inviteToken);
    if (begun.status !== 200) return begun;
    return this.finishToRegister(username, this.passkey.create(begun.body as never));
  }

  beginToSignIn(body: object = {}): Promise<Reply> {
    return this.send('POST', '/api/auth/login/begin', body);
  }

  finishToSignIn(credential: unknown, query = ''): Promise<Reply> {
    return this.send('POST', `/api/auth/login/finish${query}`, credential);
  }

  async signIn(): Promise<Reply> {
    return this.finishToSignIn(this.passkey.get((await this.beginToSignIn()).body as never));
  }
}
