/** What the server says of itself in the page that it sends. */
export type Service = 'dashboard' | 'secrets' | 'site';

const { origin = '', services = '' } = document.body.dataset;

/** Where people reach this server; passkeys hold there alone. */
export const publicOrigin = origin;

const running = new Set(services.split(' '));

export const runs = (service: Service): boolean => running.has(service);
