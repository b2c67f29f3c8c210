import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';

/** Signs out and loads a new document, so that no data of the session stays in the page. */
export async function signOut(): Promise<void> {
  requireData(await dashboardClient.POST('/api/auth/logout'));
  location.assign('/sign-in');
}

export async function signOutEverywhere(): Promise<void> {
  requireData(await dashboardClient.POST('/api/auth/logout-everywhere'));
  location.assign('/sign-in');
}
