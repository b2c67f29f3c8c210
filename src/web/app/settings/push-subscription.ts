/** The subscription of this browser to web push. */
import type { components } from '../../../generated/dashboard/client.js';

type PushSubscriptionBody = components['schemas']['PushSubscription'];

/** Whether this browser supports web push. Safari on iOS does so only for pages on the home screen. */
export const supportsPush = (): boolean => 'serviceWorker' in navigator && 'PushManager' in window;

/**
 * Asks for permission, and subscribes this browser.
 *
 * @param publicKey The server's public key in base64url.
 * @throws Error with a message for the user.
 */
export async function subscribeToPush(publicKey: string): Promise<PushSubscriptionBody> {
  if ((await Notification.requestPermission()) !== 'granted') {
    throw new Error('Notifications are blocked. Allow them for this site in the settings of the browser.');
  }
  await navigator.serviceWorker.register('/push-worker.js');
  const { pushManager } = await navigator.serviceWorker.ready;
  // A subscription with another key, of an earlier server, can't be used.
  await (await pushManager.getSubscription())?.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  // The type has the shape that every browser returns.
  return subscription.toJSON() as PushSubscriptionBody;
}
