import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser';
import { dashboardClient, requireData } from './api.js';
import type { SessionUser } from './session.js';

export { browserSupportsWebAuthn };

/** Signs in with a passkey that the user selects. */
export async function signIn(): Promise<SessionUser> {
  const optionsJSON = requireData(await dashboardClient.POST('/api/auth/login/begin', { body: {} }));
  const body = toBody(await startAuthentication({ optionsJSON }));
  return requireData(await dashboardClient.POST('/api/auth/login/finish', { body, params: { query: {} } }));
}

/** Asks for a passkey to confirm one sensitive operation. @returns the credential for its request. */
export async function confirmWithPasskey() {
  const optionsJSON = requireData(await dashboardClient.POST('/api/auth/login/begin', { body: {} }));
  const credential = toBody(await startAuthentication({ optionsJSON }));
  return { ...credential, response: { ...credential.response } };
}

interface NewAccount {
  readonly username: string;
  readonly displayName: string;
  /** From the setup link or the invitation. */
  readonly inviteToken: string;
}

/** Creates an account with its first passkey and signs in. */
export async function registerAccount(account: NewAccount): Promise<SessionUser> {
  const optionsJSON = requireData(await dashboardClient.POST('/api/auth/register/begin', { body: account }));
  const body = toBody(await startRegistration({ optionsJSON }));
  const query = { username: account.username };
  return requireData(await dashboardClient.POST('/api/auth/register/finish', { params: { query }, body }));
}

/** Adds a passkey to the account of this session. */
export async function addPasskey(label: string): Promise<void> {
  const optionsJSON = requireData(await dashboardClient.POST('/api/auth/credentials/begin'));
  const body = toBody(await startRegistration({ optionsJSON }));
  requireData(await dashboardClient.POST('/api/auth/credentials/finish', { params: { query: { label } }, body }));
}

type WithOpenExtensions<T> = Omit<T, 'clientExtensionResults'> & { clientExtensionResults: Record<string, unknown> };

/** Widens the type of a credential to that of the contract, where extensions may have any name. */
function toBody<T extends { readonly clientExtensionResults: object }>(credential: T): WithOpenExtensions<T> {
  const clientExtensionResults = { ...credential.clientExtensionResults } as Record<string, unknown>;
  return { ...credential, clientExtensionResults };
}
