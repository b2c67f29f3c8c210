import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser';
import { requireAnswer } from './answers.js';
import { dashboard } from './clients.js';
import type { SessionUser } from './session.js';

export { browserSupportsWebAuthn };

/** Signs in by a passkey of this server, whichever the person picks. */
export async function signIn(): Promise<SessionUser> {
  const optionsJSON = requireAnswer(await dashboard.POST('/api/auth/login/begin', { body: {} }));
  const body = toBody(await startAuthentication({ optionsJSON }));
  return requireAnswer(await dashboard.POST('/api/auth/login/finish', { body, params: { query: {} } }));
}

export interface NewAccount {
  readonly username: string;
  readonly displayName: string;
  /** Of the link that let its holder in. */
  readonly inviteToken: string;
}

/** Makes an account with its first passkey, and signs in to it. */
export async function register(account: NewAccount): Promise<SessionUser> {
  const optionsJSON = requireAnswer(await dashboard.POST('/api/auth/register/begin', { body: account }));
  const body = toBody(await startRegistration({ optionsJSON }));
  const query = { username: account.username };
  return requireAnswer(await dashboard.POST('/api/auth/register/finish', { params: { query }, body }));
}

/** Gives the account of this session one more passkey. */
export async function addPasskey(label: string): Promise<void> {
  const optionsJSON = requireAnswer(await dashboard.POST('/api/auth/credentials/begin'));
  const body = toBody(await startRegistration({ optionsJSON }));
  requireAnswer(await dashboard.POST('/api/auth/credentials/finish', { params: { query: { label } }, body }));
}

type Extended<T> = Omit<T, 'clientExtensionResults'> & { clientExtensionResults: Record<string, unknown> };

/** The same, typed as the contract has it: extensions may have any name. */
function toBody<T extends { readonly clientExtensionResults: object }>(credential: T): Extended<T> {
  const clientExtensionResults = { ...credential.clientExtensionResults } as Record<string, unknown>;
  return { ...credential, clientExtensionResults };
}
