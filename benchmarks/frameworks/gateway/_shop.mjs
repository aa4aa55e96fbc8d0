/** What every agent's script shares: the shop's tools, and a cell for each line of input. */

import readline from "node:readline";

export const KEY = "sk-nobody";
export const POLICY = "You serve customers of a garden shop. Use your tools.";
export const task = {};

const text = { type: "string" };
const refund = { order_id: text, parcel_id: text, sku: text };

function schema(properties) {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

async function run(name, input) {
  const body = JSON.stringify(input);
  const answer = await fetch(`${task.shop}/shop/${name}`, { method: "POST", body });
  const result = await answer.text();
  return task.dicts ? JSON.parse(result) : result;
}

function declared(name, description, properties) {
  return { name, description, parameters: schema(properties), execute: (input) => run(name, input) };
}

/** Name, description, JSON schema of the arguments, and a function that executes a call. */
export const TOOLS = [
  declared("find_customer", "Finds a customer by email address.", { email: text }),
  declared("get_order", "Looks an order up.", { order_id: text }),
  declared("get_parcel", "Looks a parcel up.", { parcel_id: text }),
  declared("refund_item", "Refunds a quantity of an item that came in a parcel.", {
    ...refund,
    quantity: { type: "integer" },
    amount: { type: "number" },
  }),
  declared("cancel_order", "Cancels an order.", { order_id: text }),
];

/** The base URL of clients of OpenAI's formats, and a model's name that clients know. */
export const openai = () => `${task.gateway}/v1`;
export const model = () => (task.wire === "messages" ? "claude-sonnet-4-5" : "gpt-4.1");

/** Plays the cells, and prints what the agent said last. */
export async function main(talk) {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    Object.assign(task, JSON.parse(line));
    try {
      console.log(`\nSAID ${JSON.stringify(String(await talk(task.turns)))}`);
    } catch (problem) {
      console.error(problem);
      console.log(`\nFAILED ${JSON.stringify(String(problem))}`);
    }
  }
}
