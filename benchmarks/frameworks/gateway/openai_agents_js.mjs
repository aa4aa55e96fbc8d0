// /// script
// [tool.ledgeragent]
// npm = ["@openai/agents@0.20.0", "zod@4"]
// wires = ["chat", "responses"]
// ///
/** OpenAI Agents JS: `Runner` */

import {
  Agent,
  OpenAIProvider,
  Runner,
  setTracingDisabled,
  tool,
  user,
} from "@openai/agents";
import { KEY, POLICY, TOOLS, main, model, openai, task } from "./_shop.mjs";

setTracingDisabled(true);

async function talk(turns) {
  const useResponses = task.wire === "responses";
  const modelProvider = new OpenAIProvider({ apiKey: KEY, baseURL: openai(), useResponses });
  const runner = new Runner({ modelProvider });
  const tools = TOOLS.map((each) => tool({ ...each, strict: true }));
  const agent = new Agent({ name: "clerk", instructions: POLICY, model: model(), tools });
  let history = [];
  let said = "";
  for (const text of turns) {
    const result = await runner.run(agent, [...history, user(text)], { stream: task.stream });
    if (task.stream) await result.completed;
    history = result.history;
    said = result.finalOutput;
  }
  return said;
}

main(talk);
