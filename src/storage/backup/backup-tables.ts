import type { Tables } from '../tables.js';

/**
 * Whether a table belongs in a backup. Tables are listed after those that they refer to, which is the order of a
 * restore. Short-lived data, such as counts of requests, is left out.
 */
const IS_PRECIOUS: Readonly<Record<keyof Tables, boolean>> = {
  people: true,
  invitations: true,
  sessions: true,
  tokens: true,
  passkeys: true,
  challenges: true,
  account_events: true,
  boards: true,
  board_shares: true,
  board_readers: true,
  snoozes: true,
  views: true,
  feeds: true,
  settings: true,
  retired_webhooks: true,
  request_log: true,
  forge_readings: true,
  forge_states: true,
  repository_marks: true,
  pull_request_marks: true,
  action_attempts: true,
  throughput_days: true,
  secret_objects: true,
  secret_object_consumers: true,
  secret_object_tags: true,
  secret_object_values: true,
  secret_object_recipients: true,
  secret_consumers: true,
  secret_owner: true,
  audit_log: true,
  audit_head: true,
  replays: true,
  server_key: true,
  rate_counts: false,
  webhook_deliveries: false,
  // A server recreates the schedule from the user settings at startup; leases are short-lived.
  refresh_schedule: false,
};

export type TableName = keyof Tables;

export const BACKUP_TABLES = (Object.keys(IS_PRECIOUS) as TableName[]).filter((table) => IS_PRECIOUS[table]);
