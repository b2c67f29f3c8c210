import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';

/** The page is loaded anew, so that nothing of the session stays in it. */
export async function signOut(): Promise<void> {
  requireAnswer(await dashboard.POST('/api/auth/logout'));
  location.assign('/sign-in');
}

export async function signOutEverywhere(): Promise<void> {
  requireAnswer(await dashboard.POST('/api/auth/logout-everywhere'));
  location.assign('/sign-in');
}
